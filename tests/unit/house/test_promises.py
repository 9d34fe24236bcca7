"""References in the documents: named tests, make targets and commands exist."""

import re
from collections.abc import Collection, Iterator
from pathlib import Path

import typer
from tree import text_of

TARGETS = (
    *("demo", "check", "test", "test-system", "soak"),
    *("timings", "mutants", "bench", "lint", "predictions", "wheel", "release"),
)
NAMED_TEST = re.compile(r"`([\w./-]+\.(?:rs|py))((?:::\w+)+)`")
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Words a reader types that are not ours to provide.
PLAIN = {"cd", "git", "pip", "python3", "source"}


def table_rows(page: str) -> list[str]:
    """Rows of the tables of a page, heads included."""
    return [row for row in page.splitlines() if re.match(r"\|(?![|:\s-]+$)", row)]


def broken_guarantees(root: Path, page: str) -> Iterator[str]:
    """Rows that name no test, and tests they name that do not exist."""
    _, *rows = table_rows(page) or [""]
    if not rows:
        yield "the page has no table of guarantees"
    for row in rows:
        if not NAMED_TEST.search(row):
            yield f"names no test as `path::name`: {row}"
    yield from missing_tests(root, page)


def missing_tests(root: Path, page: str) -> Iterator[str]:
    """Tests that a page names and that do not exist."""
    for path, names in NAMED_TEST.findall(page):
        name = names.rpartition("::")[2]
        text = text_of(root / path) if (root / path).is_file() else ""
        if not re.search(rf"\b(?:fn|def)\s+{name}\b", text or ""):
            yield f"there is no {path}::{name}"


def targets_of(makefile: str) -> set[str]:
    return set(re.findall(r"^([a-z][\w-]*):(?!=)", makefile, re.MULTILINE))


def commands_of(app: typer.Typer) -> set[str]:
    return set(typer.main.get_command(app).commands)


def broken_commands(
    readme: str, targets: Collection[str], commands: Collection[str]
) -> Iterator[str]:
    """Lines of the README's sh blocks that name no make target and no command of ours."""
    for block in BLOCK.findall(readme):
        for line in block.replace("\\\n", " ").splitlines():
            words = line.partition("#")[0].removeprefix("$ ").split()
            while words and re.match(r"\w+=", words[0]):
                words.pop(0)
            match words:
                case [] | ["make"]:
                    known = True
                case ["make", *rest]:
                    known = all(word in targets for word in rest if "=" not in word)
                case [("tameshi" | ".venv/bin/tameshi"), word, *_]:
                    known = word in commands or word.startswith("--")
                case [word, *_]:
                    known = word in PLAIN
            if not known:
                yield f"README.md promises what is not there: {line.strip()}"


def test_guarantees_name_tests_that_exist(root):
    page = (root / "docs" / "validation" / "guarantees.md").read_text(encoding="utf-8")
    assert list(broken_guarantees(root, page)) == []


def test_the_page_of_defects_names_a_test_for_each(root):
    page = (root / "docs" / "validation" / "defects.md").read_text(encoding="utf-8")
    rows = [row for row in page.splitlines() if row.startswith("| ")][1:]
    unnamed = [row for row in rows if not NAMED_TEST.search(row) and "| the same (" not in row]
    assert len(rows) > 10 and unnamed == []
    assert list(missing_tests(root, page)) == []


def test_the_page_of_cases_names_a_test_for_each(root):
    page = (root / "docs" / "validation" / "cases.md").read_text(encoding="utf-8")
    rows = [row for row in table_rows(page) if not row.startswith("| case |")]
    assert len(rows) > 30 and [row for row in rows if not NAMED_TEST.search(row)] == []
    assert list(missing_tests(root, page)) == []


def test_targets_and_ci_are_there(root):
    assert set(TARGETS) <= targets_of((root / "Makefile").read_text())
    ci = (root / ".ci" / "run").read_text().splitlines()
    assert "make lint test-system" in ci


def test_readme_commands_exist(root):
    from tameshi.commands.cli import app

    readme = (root / "README.md").read_text(encoding="utf-8")
    assert BLOCK.search(readme)
    targets = targets_of((root / "Makefile").read_text())
    assert list(broken_commands(readme, targets, commands_of(app))) == []


def test_broken_guarantees_are_found(tmp_path):
    (tmp_path / "a.rs").write_text("fn holds() {}\n")
    head = "| rule | test |\n|---|---|\n"
    assert list(broken_guarantees(tmp_path, head + "| a | `a.rs::tests::holds` |\n")) == []
    assert list(broken_guarantees(tmp_path, "# Else\n")) == ["the page has no table of guarantees"]
    assert list(
        broken_guarantees(tmp_path, head + "| a | `a.rs::gone`, `b.py::holds` |\n| b | |\n")
    ) == [
        "names no test as `path::name`: | b | |",
        "there is no a.rs::gone",
        "there is no b.py::holds",
    ]


def test_broken_commands_are_found():
    ours = "make demo X=1  # fine\n$ tameshi run \\\n  a\nmake never\ntameshi fly\nrm -rf x\n"
    readme = f"```sh\n{ours}```\n```toml\nno\n```\n"
    assert list(broken_commands(readme, {"demo"}, {"run"})) == [
        "README.md promises what is not there: make never",
        "README.md promises what is not there: tameshi fly",
        "README.md promises what is not there: rm -rf x",
    ]
