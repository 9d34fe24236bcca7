"""What a fio job does to files besides reading and writing them, and how they come to be there."""

from __future__ import annotations

from tameshi.core.errors import BadInput
from tameshi.fio.reader import Reader
from tameshi.fio.values import Percent


def file_bytes(reader: Reader, sizes: tuple[int | Percent | None, int | None], files: int) -> int:
    """How long each of so many files of a directory is."""
    if reader.get("filename"):
        raise reader.refuse("filename", "the files of this engine are called by their numbers")
    size, each = sizes
    if each is None and isinstance(size, int):
        each = size // files
    if not each:
        message = "how long the files are must be said"
        raise BadInput(message, where=reader.job.where, key="filesize", accepted=["filesize=4k"])
    return each


def donor_of(reader: Reader, engine: str) -> tuple[str, bool] | None:
    """The file that extents are moved from, and whether each gets its room only as it is moved."""
    if engine != "e4defrag":
        return None
    setting = reader.get("donorname")
    if not setting or not setting.value:
        message = "the file that extents are moved from must be said"
        accepted = ["donorname=NAME"]
        raise BadInput(message, where=reader.job.where, key="donorname", accepted=accepted)
    return setting.value, reader.flag("inplace")


def is_sparse(reader: Reader, read_ppm: int) -> bool:
    """Whether fio, too, would leave the job's file without room: it writes before reads alone."""
    setting = reader.get("fallocate")
    if setting and setting.value != "none":
        reader.notes.append(f"{setting.where}: fallocate: a file is written whole before the run")
    early = read_ppm > 0 and not reader.flag("create_on_open")
    return bool(setting and setting.value == "none" and not early)
