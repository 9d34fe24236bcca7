"""Sizes and offsets of fio's jobs in bytes, including those that default to the device's size."""

from __future__ import annotations

from collections.abc import Mapping

from tameshi import fio
from tameshi.calibrate.fio_figures import Place
from tameshi.core.errors import BadInput
from tameshi.fio import values
from tameshi.fio.values import Percent

ALIGNMENT = 4096
"""Granularity to which shares of a size are rounded down."""
OPTION = "--size SIZE, of the device or file that they are of, such as --size 3.84TB"


def sized(job: Place, options: Mapping[str, str], device_bytes: int | None) -> Mapping[str, str]:
    """Return the options with `size` and `offset` in bytes; the default size is the rest after the
    offset.

    Raises `BadInput` if the device's size is needed, which fio's results never contain, or if the
    job exceeds it.
    """
    one_size = "-" not in options.get("filesize", "-")
    file_bytes = _bytes(job, options, "filesize") if one_size else None
    whole = file_bytes if isinstance(file_bytes, int) else device_bytes
    wanted = {key: _bytes(job, options, key) for key in ("size", "offset") if key in options}
    asked = {key: _share(job, options, key, value, whole) for key, value in wanted.items()}
    offset = asked.setdefault("offset", 0)
    if "size" not in asked:
        asked["size"] = _share(job, options, "size", Percent(100), whole) - offset
    if device_bytes is not None and offset + asked["size"] > device_bytes:
        message = f"job {job.job} used {offset + asked['size']} B, which is more"
        raise BadInput(message, where="--size", found=f"{device_bytes} B")
    return {**options, **{key: str(value) for key, value in asked.items()}}


def _bytes(job: Place, options: Mapping[str, str], key: str) -> int | Percent:
    setting = fio.Setting(key, options[key], f"{job.file}: job {job.job}")
    return values.size(setting, 1000 if options.get("kb_base") == "1000" else 1024)


def _share(
    job: Place, options: Mapping[str, str], key: str, value: int | Percent, whole: int | None
) -> int:
    if isinstance(value, int):
        return value
    if whole is None:
        name = options.get("filename", "a file")
        raise BadInput(
            f"these results are of {name}, whose size they don't contain",
            where=f"{job.file}: job {job.job}",
            key=f"job options.{key}",
            found=options.get(key, "no such key"),
            accepted=[OPTION],
        )
    return whole * value.percent // 100 // ALIGNMENT * ALIGNMENT
