"""Files of engines that make, look up or move files."""

from __future__ import annotations

from tameshi.core.errors import BadInput
from tameshi.fio.reader import Reader
from tameshi.fio.values import Percent


def file_bytes(reader: Reader, sizes: tuple[int | Percent | None, int | None], files: int) -> int:
    """Return the size of each file in a directory."""
    if reader.get("filename"):
        raise reader.refuse("filename", "this engine names its files by number")
    size, each = sizes
    if each is None and isinstance(size, int):
        each = size // files
    if not each:
        message = "the size of the files is missing"
        raise BadInput(message, where=reader.job.where, key="filesize", accepted=["filesize=4k"])
    return each


def donor_of(reader: Reader, engine: str) -> tuple[str, bool] | None:
    """Return the donor file of extents, and whether it allocates each extent only at its move."""
    if engine != "e4defrag":
        return None
    setting = reader.get("donorname")
    if not setting or not setting.value:
        message = "the donor file of the extents is missing"
        accepted = ["donorname=NAME"]
        raise BadInput(message, where=reader.job.where, key="donorname", accepted=accepted)
    return setting.value, reader.flag("inplace")


def is_sparse(reader: Reader, read_ppm: int) -> bool:
    """Return whether the file may stay unallocated, as in fio: its job only writes."""
    setting = reader.get("fallocate")
    if setting and setting.value != "none":
        reader.notes.append(f"{setting.where}: fallocate: a file is written whole before the run")
    early = read_ppm > 0 and not reader.flag("create_on_open")
    return bool(setting and setting.value == "none" and not early)
