"""Offsets of a fio job's requests: order, distribution, gaps, alignment."""

from __future__ import annotations

from collections.abc import Sequence

from tameshi.fio import values
from tameshi.fio.jobfile import Setting
from tameshi.fio.options import Reader, Stride, stride_of, zones_of
from tameshi.fio.values import bad

READS = {"read": "", "randread": "", "rw": "mixed", "readwrite": "mixed", "randrw": "mixed"}
WRITES = {"write", "randwrite", "rw", "readwrite", "randrw", "trimwrite", "randtrimwrite"}
TRIMS = {"trim", "randtrim", "trimwrite", "randtrimwrite"}
KINDS = "read", "write", "trim"
TRIM_FIRST = {"trimwrite", "randtrimwrite"}


def align_of(reader: Reader, direction: str) -> int | None:
    """Return the alignment of drawn offsets, if the job names one."""
    setting = reader.get("blockalign")
    if setting is None or not direction.startswith("rand"):
        return None
    parts = {values.size_of(setting, p, reader.kb_base) for p in values.directions(setting) if p}
    if len(parts) != 1 or not min(parts):
        raise bad(setting, "reads and writes must have the same alignment", "one size above zero")
    return parts.pop()


def pattern_of(
    reader: Reader, direction: str, mix: Sequence[tuple[int, int]], run_length: int
) -> tuple[str, object]:
    """Return a stream's pattern and its parameter."""
    stride = _stride(reader, direction, mix)
    if stride:
        return "strided", stride
    if not direction.startswith("rand") or not _is_random(reader, direction):
        return "sequential", None
    setting = reader.get("random_distribution")
    if setting is None or setting.value == "random":
        drawn = len(mix) > 1 or run_length > 1
        if drawn and not reader.flag("norandommap"):
            reader.notes.append(
                f"{reader.job.where}: random offsets of several lengths, or of runs, may "
                "repeat, as with `norandommap`"
            )
        if drawn or reader.flag("norandommap"):
            return "random", None
        return "shuffled", None
    kind, _, rest = values.text(setting).partition(":")
    plain = Setting(setting.key, rest, setting.where)
    match kind:
        case "zipf":
            return "zipf", round(values.number(plain) * 1000)
        case "pareto":
            return "pareto", round(values.number(plain) * values.WHOLE_PPM)
        case "zoned":
            return "zoned", values.zones(setting, rest)
        case "normal" | "zoned_abs":
            raise reader.refuse(
                "random_distribution", f"no generator for the distribution `{kind}`"
            )
    raise bad(setting, "unknown distribution", "random", "zipf:θ", "pareto:h", "zoned:…")


def _is_random(reader: Reader, direction: str) -> bool:
    """Return whether all offsets are drawn, by `percentage_random` of the job's directions."""
    setting = reader.get("percentage_random")
    if setting is None:
        return True
    shares = [
        values.size_of(setting, part, reader.kb_base) if part else 100
        for part in values.directions(setting)
    ]
    if max(shares) > 100:
        raise bad(setting, "a share of the requests", "0 to 100")
    used = {
        kind: share
        for kind, of_kind, share in zip(KINDS, (READS, WRITES, TRIMS), shares, strict=True)
        if direction in of_kind
    }
    if set(used.values()) in ({0}, {100}):
        return 100 in used.values()
    if set(used.values()) == {0, 100}:
        jobs = " and ".join(f"rw={'rand' if used[kind] else ''}{kind}" for kind in used)
        why = "in one job, requests of all kinds are random, or all are in order"
        raise reader.refuse("percentage_random", why, hint=f"Split it into jobs of {jobs}.")
    why = "requests of a job are all random or all in order"
    raise reader.refuse("percentage_random", why, hint="Set it to 0 or 100.")


def _stride(reader: Reader, direction: str, mix: Sequence[tuple[int, int]]) -> Stride | None:
    """Return the gaps of a sequential job, if any."""
    zones = zones_of(reader.settings, reader.kb_base)
    if zones and direction.startswith("rand"):
        raise reader.refuse("zonesize", "random offsets cover the whole region of a job")
    setting = reader.get("rw")
    if setting is None or direction.startswith("rand"):
        return zones
    step = stride_of(setting, mix, reader.kb_base)
    if step and zones:
        raise reader.refuse("zonesize", "`rw` skips parts already")
    return step or zones
