"""House style: sizes, first lines, and words that have no place in the repository."""

import ast
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from style import breaches, page_breaches, source_breaches
from tree import code_of, project_files, rust_functions, text_of, without_test_modules

FUNCTION_LINES = 70
FILE_LINES = 600
# One of these in a file's first lines frees it of the limits.
EXEMPT = ("@generated", "tidy: table")

# Written in pieces, so that this file does not hold what it looks for.
UNWANTED = {
    r"(?<![\w.~-])/(?:work|root|home/\w+)/" + "[a-z.]": "names a path of one machine",
    r"\bpypi\."
    + r"org|pythonhosted\."
    + r"org|\bcrates\."
    + r"io/|registry\.npmjs\."
    + "org": "names a registry",
    r"deb\.debian\." + "org|--(?:extra-)?index-" + "url |--find-" + "links ": "names a registry",
    "farm" + "-studio": "names what is no part of the project",
    r"(?m)^(?:<{7} |={7}$|>{7} )": "is left of a conflict between two versions",
}
SLOW_S = 5
TIMED_ROW = re.compile(r"^\| ([\d.]+) \| (crates|tests)/(\S+) \| `(.+)` \|$", re.MULTILINE)
"""Row of the slowest tests in docs/validation/test-times.md."""
DOC_EXAMPLE = re.compile(r"^\s*//[/!]\s*```", re.MULTILINE)
NUMBERED_TEST = re.compile(r"\b(?:fn|def)\s+(test_?\d+)\b")
LOOSE_SERDE = re.compile(r"serde\([^\]]*?\b(flatten|untagged)\b")


def violations(root: Path) -> Iterator[str]:
    """Each breach of the house style in the project's files."""
    yield from same_names(project_files(root))
    for name in project_files(root):
        text = text_of(root / name)
        if text is None:
            continue
        for pattern, why in UNWANTED.items():
            for match in re.finditer(pattern, text):
                yield f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]} {why}"
        if name.suffix == ".rs":
            yield from (f"{name}: {why}" for why in rust_violations(text))
        elif name.suffix == ".py":
            yield from (f"{name}: {why}" for why in python_violations(text))


def same_names(files: Iterable[Path]) -> Iterator[str]:
    """Files of tests that pytest can't tell apart: it imports each by its last name alone."""
    known: dict[str, Path] = {}
    for file in files:
        if file.name.startswith("test_") and known.setdefault(file.name, file) != file:
            yield f"{file}: {known[file.name]} has the same file name"


def rust_violations(text: str) -> Iterator[str]:
    if not text.startswith("//!"):
        yield "does not start with //! and what the file is for"
    if DOC_EXAMPLE.search(text):
        yield "has an example in its documentation, which no target runs: write a test"
    code = code_of(text)
    for match in LOOSE_SERDE.finditer(code):
        yield f"serde({match[1]}) loses the place of an error"
    yield from numbered_tests(code)
    code = without_test_modules(code)
    yield from too_long(text, code, rust_functions(code))


def python_violations(text: str) -> Iterator[str]:
    tree = ast.parse(text)
    if ast.get_docstring(tree) is None:
        yield "has no docstring that says what it is for"
    yield from numbered_tests(text)
    functions = (
        (node.name, node.end_lineno - node.lineno + 1)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    yield from too_long(text, text, functions)


def numbered_tests(code: str) -> Iterator[str]:
    for match in NUMBERED_TEST.finditer(code):
        yield f"{match[1]} does not say what it tests"


def too_long(text: str, code: str, functions: Iterator[tuple[str, int]]) -> Iterator[str]:
    if any(mark in line for mark in EXEMPT for line in text.splitlines()[:5]):
        return
    if (lines := len(code.splitlines())) > FILE_LINES:
        yield f"has {lines} lines, more than {FILE_LINES}"
    for name, lines in functions:
        if lines > FUNCTION_LINES:
            yield f"{name} has {lines} lines, more than {FUNCTION_LINES}"


def unmarked_slow_tests(root: Path, page: str) -> Iterator[str]:
    """Tests of `make test` that take over 5 s by the page of times, and do not say why."""
    for seconds, kind, where, name in TIMED_ROW.findall(page):
        if float(seconds) <= SLOW_S or where.startswith("system"):
            continue
        if kind == "crates":
            mark = rf"// slow: .+\n(?:\s*#\[.*\]\n)*\s*fn {re.escape(name.rpartition('::')[2])}\b"
            files = sorted((root / "crates" / where).rglob("*.rs"))
        else:
            file, _, function = name.partition("::")
            mark = (
                rf"mark\.slow\(.+\)\n(?:@.*\n|    .*\n|\).*\n)*def {function.partition('[')[0]}\b"
            )
            files = [root / "tests" / where / f"{file}.py"]
        if not any(re.search(mark, path.read_text(encoding="utf-8")) for path in files):
            yield f"{kind}/{where} {name} takes {seconds} s and does not say why"


def test_slow_tests_of_make_test_say_why(root):
    page = (root / "docs" / "validation" / "test-times.md").read_text(encoding="utf-8")
    assert TIMED_ROW.search(page)
    assert list(unmarked_slow_tests(root, page)) == []


def test_unmarked_slow_test_is_found(tmp_path):
    rust = tmp_path / "crates" / "sim" / "src" / "a.rs"
    python = tmp_path / "tests" / "unit" / "ask" / "test_a.py"
    for path in (rust, python):
        path.parent.mkdir(parents=True)
    rust.write_text(
        "// slow: a grid\n#[test]\nfn marked() {}\n// fast\n#[test]\nfn unmarked() {}\n"
    )
    python.write_text(
        '@pytest.mark.slow("a grid")\n@pytest.mark.parametrize(\n    "a", [1]\n)\n'
        "def test_marked(a): ...\n\n\ndef test_unmarked(): ...\n"
    )
    rows = [(6.0, "crates/sim", f"b::{name}") for name in ("marked", "unmarked")]
    rows += [(5.1, "tests/unit/ask", f"test_a::test_{name}") for name in ("marked[1]", "unmarked")]
    rows += [(60, "tests/system/run", "test_b::test_c"), (5, "crates/sim", "b::quick")]
    page = "".join(f"| {seconds} | {suite} | `{name}` |\n" for seconds, suite, name in rows)
    assert list(unmarked_slow_tests(tmp_path, page)) == [
        "crates/sim b::unmarked takes 6.0 s and does not say why",
        "tests/unit/ask test_a::test_unmarked takes 5.1 s and does not say why",
    ]


def test_the_house_is_tidy(root):
    assert list(violations(root)) == []


def test_two_test_files_of_one_name_are_found():
    files = [Path(name) for name in ("a/test_x.py", "b/x.py", "b/test_x.py", "c/x.py")]
    assert list(same_names(files)) == ["b/test_x.py: a/test_x.py has the same file name"]


def test_sources_and_pages_follow_style(root):
    assert list(breaches(root)) == []


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.rs", "//! What it does.\n", "begins with a question word"),
        ("a.rs", "//! A queue.\n\n/// Where it ends.\n", "begins with a question word"),
        ("a.rs", "//! A queue, of which\n//! where is a line.\n", ""),
        ("a.py", '"""Whether it is full."""\n', "begins with a question word"),
        ("a.py", f"# {'x' * 99}\n", "101 columns"),
        ("a.rs", f"#[test]\nfn {'x' * 61}() {{}}\n", "test name of 61 characters"),
        ("a.py", f"def test_{'x' * 60}(): ...\n", ""),
        ("a.md", "# What it is\n", "begins with a question word"),
        ("a.md", "x" * 121 + "\n", "121 columns"),
        ("a.md", "| " + "x" * 121 + " |\n", ""),
        ("a.md", "word " * 1501 + "\n", "1501 words"),
    ],
)
def test_breach_of_style_is_found(name, text, found):
    check = page_breaches if name.endswith(".md") else source_breaches
    breaking = list(check(Path(name), text))
    assert breaking == [] if not found else any(found in line for line in breaking)


def rust_body(lines: int) -> str:
    return "fn long(a: [u8; 4]) -> u8 {\n" + "    step();\n" * (lines - 2) + "}\n"


def python_body(lines: int) -> str:
    return "def long():\n" + "    step()\n" * (lines - 1)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("//! x\n" + rust_body(70), []),
        ("//! x\n" + rust_body(71), ["long has 71 lines, more than 70"]),
        ("//! tidy: table\n" + rust_body(700), []),
        ("//! x\n#[cfg(test)]\nmod tests {\n" + rust_body(700) + "}\n", []),
        ("//! x\n// fn a() {\nconst A: &str = \"{\"; const B: char = '{';\n" + rust_body(9), []),
        ("//! x\ntrait T { fn a(&self); }\n" + "const A: u8 = 1;\n" * 80, []),
        ("//! x\n" * 601, ["has 601 lines, more than 600"]),
        ("fn a() {}\n", ["does not start with //! and what the file is for"]),
        ("//! x\n#[serde(default, flatten)]\n", ["serde(flatten) loses the place of an error"]),
        ("//! x\n#[serde(untagged)]\n", ["serde(untagged) loses the place of an error"]),
        (
            "//! x\n//! ```\n//! let a = 1;\n",
            ["has an example in its documentation, which no target runs: write a test"],
        ),
        ("//! x\nfn test_" + "1() {}\n", ["test_" + "1 does not say what it tests"]),
    ],
)
def test_untidy_rust_is_found(text, found):
    assert list(rust_violations(text)) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"""x"""\n' + python_body(70), []),
        ('"""x"""\n' + python_body(71), ["long has 71 lines, more than 70"]),
        ('"""x @generated"""\n' + python_body(700), []),
        ('"""x"""\n' + "a = 1\n" * 600, ["has 601 lines, more than 600"]),
        ("a = 1\n", ["has no docstring that says what it is for"]),
        ('"""x"""\ndef test_' + "12(): ...\n", ["test_" + "12 does not say what it tests"]),
    ],
)
def test_untidy_python_is_found(text, found):
    assert list(python_violations(text)) == found


@pytest.mark.parametrize(
    "text",
    [
        "cd /" + "root/x",
        "see /" + "work/main",
        "https://py" + "pi.org/simple",
        "farm" + "-studio",
        "<" * 7 + " HEAD",
        "=" * 7,
        ">" * 7 + " 1234567",
    ],
)
def test_unwanted_words_are_found(tmp_path, text):
    (tmp_path / "note.md").write_text(f"first\n{text}\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (found,) = violations(tmp_path)
    assert found.startswith("note.md:2: ")
