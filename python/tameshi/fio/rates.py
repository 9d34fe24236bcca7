"""Arrival rates of a fio job."""

from __future__ import annotations

from collections.abc import Sequence

from tameshi.fio import values
from tameshi.fio.reader import Reader, off
from tameshi.fio.values import bad


def rate_of(
    reader: Reader,
    shares_ppm: tuple[int, int],
    mixes: tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]],
) -> tuple[float, bool, int | None] | None:
    """Return requests per second, whether they are a Poisson process, and the share of reads.

    The share is None unless reads and writes have separate rates; `mixes` are the lengths of both.
    """
    read_ppm, trim_ppm = shares_ppm
    setting = reader.get("rate_iops") or reader.get("rate")
    if setting is None or off(setting):
        return None
    if reader.get("rate_iops") and reader.get("rate"):
        raise reader.refuse("rate", "`rate_iops` says the rate already")
    if reader.get("thinktime"):
        raise reader.refuse("thinktime", "a rate fixes when requests start")
    if setting.key == "rate" and any(len(mix) > 1 for mix in mixes):
        raise reader.refuse("rate", "bytes per second need one length; use `rate_iops`")
    reads, writes, trims = (
        float(values.size_of(setting, part, reader.kb_base)) if part else 0.0
        for part in values.directions(setting)
    )
    if setting.key == "rate":
        (read_bytes, _), (write_bytes, _) = mixes[0][0], mixes[1][0]
        reads, writes, trims = reads / read_bytes, writes / write_bytes, trims / read_bytes
    share_ppm = None
    if 0 < read_ppm < values.WHOLE_PPM:
        if not reads or not writes:
            raise reader.refuse(setting.key, "a job that reads and writes has a rate for both")
        share_ppm = round(values.WHOLE_PPM * reads / (reads + writes))
        rate = float(reads + writes)
    else:
        rate = float(reads if read_ppm else trims if trim_ppm else writes)
    if round(rate * 1000) < 1:
        raise bad(setting, "this is no rate", "at least one request in 1000 s")
    return rate, _is_poisson(reader), share_ppm


def _is_poisson(reader: Reader) -> bool:
    setting = reader.get("rate_process")
    if setting is None or setting.value == "linear":
        return False
    if setting.value != "poisson":
        raise bad(setting, "requests don't come like this", "linear", "poisson")
    return True
