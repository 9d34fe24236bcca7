"""Sources of the site: the repository's pages, a front page, generated reference."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from scripts.docsite.reference import command_line_page, python_page

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
OF_ROOT = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "GLOSSARY.md", "STYLE.md")
"""Pages beside docs/."""
INDEX = Path("docs/index.md")
FRONT = "front.myst"
LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s#]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r"^- \[.*?\]\(([^)#]+\.md)\)", re.MULTILINE)
SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
GENERATED = {
    "docs/reference/command-line.md": command_line_page,
    "docs/reference/python.md": python_page,
}


def write_sources(folder: Path) -> None:
    """Write all pages and the files that they link."""
    pages = [*(Path(name) for name in OF_ROOT), *_pages_of_docs()]
    for page in pages:
        _write(folder / page, _linked(page, (ROOT / page).read_text("utf-8"), set(pages), folder))
    for name, made in GENERATED.items():
        _write(folder / name, made())
    for readme in (page for page in pages if page.name == "README.md"):
        with (folder / readme).open("a", encoding="utf-8") as file:
            file.write(_toctree("", sorted(_others_in(readme.parent))))
    front = _linked(Path("index.md"), (HERE / FRONT).read_text("utf-8"), set(pages), folder)
    _write(folder / "index.md", front + "".join(_toctrees()))


def _pages_of_docs() -> list[Path]:
    return sorted(path.relative_to(ROOT) for path in (ROOT / "docs").rglob("*.md"))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def _linked(page: Path, text: str, pages: set[Path], folder: Path) -> str:
    """Return a page with links to folders and to the README as words; copy other linked files."""

    def link(found: re.Match[str]) -> str:
        shown, target, anchor = found[1], found[2], found[3] or ""
        if re.match(r"\w+:", target):
            return found[0]
        there = (ROOT / page.parent / target).resolve()
        name = there.relative_to(ROOT)
        if name in pages or str(name) in GENERATED:
            return found[0]
        if there.is_dir() or name == Path("README.md"):
            return shown.removeprefix("[").removesuffix("]")
        copy = folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(there, copy)
        return f"{shown}({target}{anchor})"

    parts = FENCE.split(text)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def _toctrees() -> Iterator[str]:
    """Yield a list of pages per section of the index."""
    text = (ROOT / INDEX).read_text("utf-8")
    heads = list(SECTION.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    for head, end in zip(heads, ends, strict=True):
        listed = [_from_root(INDEX.parent / link) for link in ENTRY.findall(text[head.end() : end])]
        if head[1] == "Reference":
            listed = [*GENERATED, *listed]
        yield _toctree(head[1], dict.fromkeys(listed))
    yield _toctree("Project", [name for name in OF_ROOT if name != "GLOSSARY.md"])
    yield _toctree("", [str(INDEX)])


def _from_root(path: Path) -> str:
    return str((ROOT / path).resolve().relative_to(ROOT))


def _others_in(folder: Path) -> Iterator[str]:
    return (f"/{p}" for p in _pages_of_docs() if p.parent == folder and p.name != "README.md")


def _toctree(caption: str, listed: Iterable[str]) -> str:
    names = "\n".join(name.removesuffix(".md") for name in listed)
    shown = f":caption: {caption}\n" if caption else ""
    return f"\n```{{toctree}}\n:hidden:\n:titlesonly:\n{shown}\n{names}\n```\n"
