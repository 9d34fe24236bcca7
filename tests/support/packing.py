"""Sdist of the checkout, and wheels of it: built by pip, or packed with the tests' module."""

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from zipfile import ZipFile

MODULE = "tameshi/_tameshi.abi3.so"
COMPILED = Path(sys.prefix) / "compiled" / "lib_tameshi.so"


def sdist(root: Path, folder: Path) -> Path:
    """Write the sdist into the folder, and return the folder of its unpacked content."""
    maturin(root, "sdist", "--out", folder)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


def packed(root: Path, folder: Path, unpacked: Path) -> Path:
    """Write a wheel of the sdist's Python files, maturin's metadata and the tests' module."""
    metadata = folder / "metadata"
    metadata.mkdir(parents=True)
    interpreter = ("--interpreter", sys.executable)
    maturin(root, "pep517", "write-dist-info", "--metadata-directory", metadata, *interpreter)
    (info,) = metadata.iterdir()
    (tag,) = (
        line.removeprefix("Tag: ")
        for line in (info / "WHEEL").read_text().splitlines()
        if line.startswith("Tag: ")
    )
    files = {
        str(path.relative_to(base)): path
        for base, within in ((unpacked / "python", "tameshi"), (metadata, info.name))
        for path in sorted((base / within).rglob("*"))
        if path.is_file()
    }
    files[MODULE] = COMPILED
    record = f"{info.name}/RECORD"
    path = folder / f"{info.name.removesuffix('.dist-info')}-{tag}.whl"
    with ZipFile(path, "w") as archive:
        for name, source in files.items():
            archive.write(source, name)
        archive.writestr(record, "".join(f"{name},,\n" for name in (*files, record)))
    shutil.rmtree(metadata)
    return path


def built(root: Path, folder: Path, unpacked: Path) -> Path:
    """Build the wheel from the sdist with pip and return it; it takes minutes."""
    bin = root / ".venv" / "bin"
    path = f"{bin}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "CARGO_TARGET_DIR": str(folder / "target")}
    flags = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder]
    subprocess.run(
        [bin / "pip", "wheel", *flags, unpacked], cwd=folder, env=environment, check=True
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def maturin(root: Path, *words: str | Path) -> None:
    """Run maturin in the checkout."""
    command = [root / ".venv" / "bin" / "maturin", *words]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
