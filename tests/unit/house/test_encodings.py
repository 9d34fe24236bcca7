"""Text is read and written as UTF-8, whatever the locale: every call says so."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SOURCES = sorted(
    path for folder in ("python", "bench", "scripts") for path in (ROOT / folder).rglob("*.py")
)
TEXT_METHODS = ("read_text", "write_text")
"""Methods of a path; the encoding is this positional argument."""
SUBPROCESSES = ("run", "Popen", "check_output")


def without_encoding(source: str) -> Iterator[int]:
    """Lines of calls that read or write text in the locale's encoding."""
    for call in ast.walk(ast.parse(source)):
        if not isinstance(call, ast.Call):
            continue
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        name = getattr(call.func, "attr", None) or getattr(call.func, "id", None)
        mode = keywords.get("mode") or next(
            iter(call.args[isinstance(call.func, ast.Name) :]), None
        )
        opens = name == "open" and ast.unparse(call.func) != "os.open"
        opens &= not (isinstance(mode, ast.Constant) and "b" in str(mode.value))
        positional = name in TEXT_METHODS and len(call.args) > TEXT_METHODS.index(name)
        piped = "text" in keywords and name in SUBPROCESSES
        reads = name in TEXT_METHODS or opens or piped
        if reads and "encoding" not in keywords and not positional:
            yield call.lineno


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("p.read_text()", [1]),
        ("p.read_text(encoding='utf-8')", []),
        ("p.write_text('b')", [1]),
        ("open(p)", [1]),
        ("open('b')", [1]),
        ("open(p, 'rb'); p.open('ab'); os.open(p, 0)", []),
        ("subprocess.run(c, text=True)", [1]),
        ("subprocess.run(c, encoding='utf-8')", []),
    ],
)
def test_call_without_encoding_is_found(source: str, lines: list[int]) -> None:
    assert list(without_encoding(source)) == lines


def test_every_text_call_names_its_encoding() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in SOURCES
        for line in without_encoding(path.read_text(encoding="utf-8"))
    ]
    assert found == []
