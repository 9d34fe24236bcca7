"""Installed servers and load tools, with paths and versions."""

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
    """Installed program: product, reported version, and path."""

    product: str
    version: str
    path: str


_SERVERS = {"mariadb": ("mariadbd", "mysqld"), "mysql": ("mysqld",), "postgres": ("postgres",)}
_TOOLS = {"fio": ("fio",), "sysbench": ("sysbench",), "xfsprogs": ("mkfs.xfs",)}
_ASKED = {"xfsprogs": "-V"}
"""Options that report a version, other than `--version`."""
# Usual places of servers outside PATH.
_SERVER_FOLDERS = ("/usr/sbin", "/usr/local/sbin", "/usr/libexec", "/usr/local/mysql/bin")
_POSTGRES_FOLDERS = ("usr/lib/postgresql/*/bin", "usr/pgsql-*/bin")
_VERSION_SECONDS = 5


def installed(
    root: Path = Path("/"), search: str | None = None, patience: float = _VERSION_SECONDS
) -> Iterator[Program]:
    """Return servers and load tools with their versions, each file once.

    `search` replaces PATH; `root` is the root of Debian's and Red Hat's own folders; a program that
    takes more than `patience` seconds for its version is omitted.
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
    """Return whether a program is the product: mysqld may also be MariaDB's server, as its version
    tells."""
    return product not in ("mariadb", "mysql") or ("mariadb" in said.lower()) == (
        product == "mariadb"
    )


def version_said(
    path: str, patience: float = _VERSION_SECONDS, asked: str = "--version"
) -> str | None:
    """Return a program's answer to --version, in one line; None after a timeout."""
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
    """Return the first version number in a program's answer."""
    match = re.search(r"\d+(?:\.\d+)+\S*", said)
    return match[0].rstrip(",)") if match else said[:40]
