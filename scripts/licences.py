"""Collect the licence notices of the Rust code in the wheel: crates and standard library.

    scripts/licences.py            # write them anew, after a change of Cargo.lock
    scripts/licences.py --check    # fail if a crate is missing or no longer compiled in

The standard library's notices are those of the toolchain at hand. Plotly's licence comes with its
bundle (`make plotly`).
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NOTICES = ROOT / "licences" / "rust.txt"
OF_TOOLCHAIN = "share/doc/rust/COPYRIGHT-library.html"
MODULE = "tameshi-py"
TARGET = "x86_64-unknown-linux-gnu"
NOTICE = re.compile(r"(un)?licen[sc]e|copying|copyright|notice", re.IGNORECASE)
SOURCE = {".rs", ".py", ".c", ".h"}
RULE = "=" * 80
HEAD = """\
Licences of the Rust code that is compiled into Tameshi's module: crates, and below them Rust's
standard library. Where one offers several licences, all texts are here, each once. SQLite, which
libsqlite3-sys contains, is in the public domain.
Written by scripts/licences.py.
"""


@dataclass(frozen=True)
class Crate:
    """Crate compiled into the module."""

    name: str
    version: str
    licence: str
    folder: Path

    @property
    def label(self) -> str:
        """Return name, version and licence, as the list of crates has them."""
        return f"{self.name} {self.version}: {self.licence}"

    def notices(self) -> Iterator[str]:
        """Yield the texts of its licences and notices; fail without any."""
        found = [
            path
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and NOTICE.match(path.name) and path.suffix not in SOURCE
        ]
        if not found:
            sys.exit(f"{self.name} {self.version}: no licence text in {self.folder}")
        for path in found:
            lines = path.read_text(encoding="utf-8").strip().splitlines()
            yield "\n".join(line.rstrip() for line in lines)


def compiled_in() -> list[Crate]:
    """Return the crates of others that the module contains; macros and build scripts are not."""
    command = ["cargo", "metadata", "--format-version=1", "--locked", "--filter-platform", TARGET]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    metadata: dict[str, Any] = json.loads(done.stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    reached: set[str] = set()
    todo = [each for each, package in packages.items() if package["name"] == MODULE]
    while todo:
        each = todo.pop()
        is_macro = any("proc-macro" in target["kind"] for target in packages[each]["targets"])
        if each in reached or is_macro:
            continue
        reached.add(each)
        for dependency in nodes[each]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                todo.append(dependency["pkg"])
    crates = [
        Crate(
            package["name"],
            package["version"],
            package["license"] or "see its text",
            Path(package["manifest_path"]).parent,
        )
        for package in (packages[each] for each in reached)
        if package["source"] is not None
    ]
    return sorted(crates, key=lambda crate: (crate.name, crate.version))


def of_standard_library() -> Iterator[tuple[str, str]]:
    """Yield name and text of each notice of Rust's standard library, from the toolchain's page."""
    command = ["rustc", "--print", "sysroot"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    page = (Path(done.stdout.strip()) / OF_TOOLCHAIN).read_text(encoding="utf-8")
    whole, *crates = page.split("<h3>")
    yield "Rust's standard library", plain(re.sub(r"(?s).*?</ul>", "", whole, count=1))
    for crate in crates:
        name, _, rest = crate.partition("</h3>")
        for text in re.findall(r"(?s)<pre>\n?(.*?)</pre>", rest):
            yield f"{plain(name).lstrip('📦 ')} (standard library)", plain(text)


def plain(markup: str) -> str:
    """Return the text of a piece of HTML, without empty lines at its ends and double ones."""
    lines = unescape(re.sub(r"<[^>]*>", "", markup)).strip("\n").splitlines()
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines)).strip()


def text_of(crates: list[Crate]) -> str:
    """Return the list of crates, and each different text with the names of those under it."""
    found = [
        (f"{crate.name} {crate.version}", each) for crate in crates for each in crate.notices()
    ]
    carriers: dict[str, list[str]] = {}
    texts: dict[str, str] = {}
    for name, text in [*found, *of_standard_library()]:
        same = " ".join(text.split())
        texts.setdefault(same, text)
        if name not in carriers.setdefault(same, []):
            carriers[same].append(name)
    parts = [HEAD, *(f"{crate.label}\n" for crate in crates)]
    for same, names in carriers.items():
        parts.append(f"\n{RULE}\n{', '.join(names)}\n{RULE}\n\n{texts[same]}\n")
    return "".join(parts)


def missing(crates: list[Crate]) -> list[str]:
    """Return what differs between the written list and the crates compiled in."""
    listed = NOTICES.read_text(encoding="utf-8").partition(RULE)[0].splitlines()
    written = set(listed[len(HEAD.splitlines()) :]) - {""}
    wanted = {crate.label for crate in crates}
    return [
        *(f"no notice: {label}" for label in sorted(wanted - written)),
        *(f"no longer compiled in: {label}" for label in sorted(written - wanted)),
    ]


def main() -> None:
    """Write the notices, or check that they are those of Cargo.lock."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--check", action="store_true", help="only compare with Cargo.lock")
    crates = compiled_in()
    if parser.parse_args().check:
        if differences := missing(crates):
            sys.exit("\n".join([*differences, "Run scripts/licences.py."]))
        return
    NOTICES.parent.mkdir(exist_ok=True)
    NOTICES.write_text(text_of(crates), encoding="utf-8")


if __name__ == "__main__":
    main()
