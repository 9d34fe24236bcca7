"""Pages of the documentation: links lead somewhere, and paths in code style exist."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tree import project_files, text_of

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
PATH = re.compile(
    r"`((?:crates|python|tests|scripts|validation|bench|docs|requirements)/[\w./-]+)`"
)
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
OTHER_NAMES = {"CHANGELOG.md"}
"""Pages that name paths of other versions."""


def anchors(page: str) -> set[str]:
    """Anchors of a page's headings, as GitHub makes them."""
    found = set()
    for heading in HEADING.findall(CODE.sub("", page)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-"))
    return found


def broken_links(root: Path, name: Path, page: str) -> Iterator[str]:
    """Relative links of a page to files or headings that do not exist."""
    for link in LINK.findall(CODE.sub("", page)):
        if re.match(r"\w+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (root / name).parent / path if path else root / name
        if not target.exists():
            yield f"{name}: there is no {link}"
            continue
        known = anchors(target.read_text(encoding="utf-8")) if target.suffix == ".md" else set()
        if anchor and target.suffix == ".md" and anchor not in known:
            yield f"{name}: {path or name} has no heading #{anchor}"


def missing_paths(root: Path, name: Path, page: str) -> Iterator[str]:
    """Paths in code style that do not exist; names in capitals stand for the reader's own."""
    for path in PATH.findall(page):
        if not re.search(r"\b[A-Z]{3,}\b", path) and not (root / path).exists():
            yield f"{name}: there is no {path}"


def pages(root: Path) -> Iterator[tuple[Path, str]]:
    """Each Markdown page of the project with its text."""
    for name in project_files(root):
        if name.suffix == ".md":
            yield name, text_of(root / name) or ""


def test_links_of_pages_lead_somewhere(root: Path) -> None:
    assert [x for name, page in pages(root) for x in broken_links(root, name, page)] == []


def test_paths_in_pages_exist(root: Path) -> None:
    named = [each for each in pages(root) if each[0].name not in OTHER_NAMES]
    assert [x for name, page in named for x in missing_paths(root, name, page)] == []


def test_every_page_of_docs_is_in_the_index(root: Path) -> None:
    index = (root / "docs" / "index.md").read_text(encoding="utf-8")
    linked = {(root / "docs" / link.partition("#")[0]).resolve() for link in LINK.findall(index)}
    there = {(root / name).resolve() for name, _ in pages(root) if name.parts[0] == "docs"}
    folders = {path for path in there if path.parent / "README.md" in linked}
    assert sorted(there - linked - folders - {(root / "docs" / "index.md").resolve()}) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[a](b.md) [c](#own-head) [d](https://x.y/z)\n\n## Own, head!\n", []),
        ("```\n[a](none.md)\n```\n", []),
        ("[a](none.md)\n", ["page.md: there is no none.md"]),
        ("[a](b.md#no)\n", ["page.md: b.md has no heading #no"]),
    ],
)
def test_broken_link_is_found(tmp_path: Path, text: str, found: list[str]) -> None:
    (tmp_path / "b.md").write_text("# B\n")
    (tmp_path / "page.md").write_text(text)
    assert list(broken_links(tmp_path, Path("page.md"), text)) == found


def test_missing_path_is_found(tmp_path: Path) -> None:
    page = "`tests/NAME.py` `tests/gone.py` `python -m x`"
    assert list(missing_paths(tmp_path, Path("p.md"), page)) == ["p.md: there is no tests/gone.py"]
