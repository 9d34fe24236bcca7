"""Measure the structure of a checkout: lines by room, cycles, structs, first words, widths.

    python scripts/measure_house.py [CHECKOUT]

Lines of code are those that are neither blank nor comment; `#[cfg(test)]` modules count as tests.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE / "tests" / "support"))

from rust_methods import calls_and_uses, cycles, struct_sizes  # noqa: E402
from style import QUESTION, first_words, python_comments, rust_comments  # noqa: E402
from tree import code_of, without_test_modules  # noqa: E402

GENERATED = ("spec_types.py",)


def code_lines(text: str) -> int:
    """Number of lines that are not blank."""
    return sum(bool(line.strip()) for line in text.splitlines())


def python_code(text: str) -> str:
    """Python text without comments and docstrings."""
    lines = text.splitlines()
    for number, _, _ in python_comments(text):
        lines[number - 1] = (
            re.sub(r"#.*", "", lines[number - 1]) if "#" in lines[number - 1] else ""
        )
    return "\n".join(lines)


def room_of(path: Path) -> str:
    """Room of a source file below the checkout's root."""
    parts = path.parts
    if parts[0] == "crates":
        return "/".join(parts[:2])
    if parts[:2] == ("python", "tameshi"):
        return "/".join(parts[:3]) if len(parts) > 3 else "python/tameshi"
    return parts[0]


def lines_by_room(root: Path) -> tuple[Counter[str], Counter[str]]:
    """Lines of code and of tests by room."""
    code: Counter[str] = Counter()
    tests: Counter[str] = Counter()
    for path in sorted([*root.glob("crates/**/*.rs"), *root.rglob("*.py")]):
        name = path.relative_to(root)
        if name.parts[0] in {"target", "build"} or ".venv" in name.parts or name.name in GENERATED:
            continue
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".py":
            (tests if name.parts[0] == "tests" else code)[room_of(name)] += code_lines(
                python_code(text)
            )
            continue
        whole = code_of(text)
        own = "tests" not in name.parts[:3] and path.name != "tests.rs"
        product = code_lines(without_test_modules(whole)) if own else 0
        code[room_of(name)] += product
        tests[room_of(name)] += code_lines(whole) - product
    return code, tests


def questions(root: Path) -> tuple[int, int]:
    """Number of files, and of documentation comments, that begin with a question word."""
    files = comments = 0
    for path in sorted([*root.glob("crates/**/*.rs"), *root.glob("python/**/*.py")]):
        text = path.read_text(encoding="utf-8")
        if "@generated" in text[:1000]:
            continue
        lines = [
            (n, line)
            for n, line, begins in (
                rust_comments(text) if path.suffix == ".rs" else python_comments(text)
            )
            if begins and QUESTION.match(first_words(line))
        ]
        comments += len(lines)
        files += any(number == 1 for number, _ in lines)
    return files, comments


def main() -> None:
    """Print the measures of a checkout."""
    root = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else HERE
    code, tests = lines_by_room(root)
    print("| room | code | tests |\n|---|---:|---:|")
    for room in sorted({*code, *tests}):
        print(f"| {room} | {code[room]:,} | {tests[room]:,} |")
    print(f"| all | {sum(code.values()):,} | {sum(tests.values()):,} |\n")
    for source in sorted(root.glob("crates/*/src")):
        for group in cycles(calls_and_uses(source)):
            print(f"cycle of {len(group)} files: {source.parent.name}: {'::'.join(group[0])} …")
    sizes = [size for source in root.glob("crates/*/src") for size in struct_sizes(source)]
    print("largest structs:", sorted((s[:2] for s in sizes if not s[2]), reverse=True)[:4])
    files, comments = questions(root)
    print(f"first line with a question word: {files} files, {comments} comments")
    pages = [path for path in root.glob("docs/**/*.md")]
    longest = max(
        (len(line), str(p.relative_to(root)))
        for p in pages
        for line in p.read_text(encoding="utf-8").splitlines()
        if not line.startswith("|")
    )
    print("longest line of a page:", *longest)


if __name__ == "__main__":
    main()
