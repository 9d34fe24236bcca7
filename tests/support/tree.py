"""Sources of the project: list of files, and Rust text without comments and strings."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

NOT_CODE = re.compile(
    r"""
      //[^\n]*                          # comment
    | /\*.*?\*/                         # block comment
    | b?r(?P<hashes>\#*)".*?"(?P=hashes)  # raw string
    | b?"(?:\\.|[^"\\])*"               # string
    | b?'(?:\\[^\n']+'|[^'\\\n]')       # character, not a lifetime
    """,
    re.VERBOSE | re.DOTALL,
)
TEST_MODULE = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub\s+)?mod\s+\w+\s*\{")
FUNCTION = re.compile(r"\bfn\s+(\w+)")


def project_files(root: Path) -> Iterator[Path]:
    """Return every file that is in git or would be, relative to `root`."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    for name in sorted(set(listed.split("\0")) - {""}):
        if (root / name).is_file():
            yield Path(name)


def text_of(path: Path) -> str | None:
    """Return the file's text, or None for a binary file."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def code_of(rust: str) -> str:
    """Return Rust text with comments, strings and characters blanked; lines stay in place."""
    return NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), rust)


def closing(code: str, opening: int) -> int:
    """Return the position that closes the brace at `opening`."""
    depth = 0
    for brace in re.finditer(r"[{}]", code[opening:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return opening + brace.start()
    return len(code) - 1


def without_test_modules(code: str) -> str:
    """Return `code_of` some Rust without its `#[cfg(test)]` modules."""
    while match := TEST_MODULE.search(code):
        code = code[: match.start()] + code[closing(code, match.end() - 1) + 1 :]
    return code


def rust_functions(code: str) -> Iterator[tuple[str, int]]:
    """Yield name and number of lines of each function with a body in `code_of` some Rust."""
    for match in FUNCTION.finditer(code):
        depth = 0
        for sign in re.finditer(r"[(\[{;)\]]", code[match.end() :]):
            if sign[0] in "([":
                depth += 1
            elif sign[0] in ")]":
                depth -= 1
            elif depth == 0:
                if sign[0] == "{":
                    end = closing(code, match.end() + sign.start())
                    yield match[1], code.count("\n", match.start(), end) + 1
                break
