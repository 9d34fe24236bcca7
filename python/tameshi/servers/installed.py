"""Which servers and load tools are installed, where, and which version each says it is."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Program:
    """An installed program: the product it is, its version as it says, and where."""

    product: str
    version: str
    path: str


_SERVERS = {"mariadb": ("mariadbd", "mysqld"), "mysql": ("mysqld",), "postgres": ("postgres",)}
_TOOLS = {"fio": ("fio",), "sysbench": ("sysbench",), "xfsprogs": ("mkfs.xfs",)}
_ASKED = {"xfsprogs": "-V"}
"""By what a program says its version, where that is not `--version`."""
# Where servers stand that no user calls by name.
_SERVER_FOLDERS = ("/usr/sbin", "/usr/local/sbin", "/usr/libexec", "/usr/local/mysql/bin")
_POSTGRES_FOLDERS = ("usr/lib/postgresql/*/bin", "usr/pgsql-*/bin")
_VERSION_SECONDS = 5


def installed(
    root: Path = Path("/"), search: str | None = None, patience: float = _VERSION_SECONDS
) -> Iterator[Program]:
    """Servers and load tools with their versions, each file once.

    `search` stands in for PATH; `root` is where Debian's and Red Hat's own folders are looked for;
    a program that needs more than `patience` seconds to say its version is left out.
    """
    search = os.environ.get("PATH", os.defpath) if search is None else search
    folders = [str(root / folder.lstrip("/")) for folder in _SERVER_FOLDERS]
    folders += sorted(str(folder) for pattern in _POSTGRES_FOLDERS for folder in root.glob(pattern))
    seen = set()
    for product, names in (_SERVERS | _TOOLS).items():
        for folder in (*search.split(os.pathsep), *folders):
            for path in filter(None, (shutil.which(name, path=folder) for name in names)):
                said = version_said(path, patience, _ASKED.get(product, "--version"))
                real = os.path.realpath(path)
                if said and real not in seen and _is_product(product, said):
                    seen.add(real)
                    yield Program(product, version_in(said), path)


def _is_product(product: str, said: str) -> bool:
    """MariaDB's server too may be called mysqld; only its version tells."""
    return product not in ("mariadb", "mysql") or ("mariadb" in said.lower()) == (
        product == "mariadb"
    )


def version_said(
    path: str, patience: float = _VERSION_SECONDS, asked: str = "--version"
) -> str | None:
    """What a program answers to --version, in one line; None if it does not answer in time."""
    try:
        done = subprocess.run(
            [path, asked],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=patience,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return " ".join(done.stdout.split()) if done.returncode == 0 else None


def version_in(said: str) -> str:
    """The first thing in a program's answer that looks like a version."""
    found = re.search(r"\d+(?:\.\d+)+\S*", said)
    return found[0].rstrip(",)") if found else said[:40]
