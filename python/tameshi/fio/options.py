"""Typed options of one fio job: processors, arrival rates, files, gaps, tolerated errors."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tameshi.core.errors import BadInput
from tameshi.fio import values
from tameshi.fio.jobfile import JobText, Setting
from tameshi.fio.keys import NOTED, UNSET_AT_ZERO, known, known_engine
from tameshi.fio.values import Percent, bad


class Reader:
    """Settings of a job by key, and notes on them.

    Each method raises `BadInput` at the line of an invalid setting.
    """

    def __init__(self, job: JobText) -> None:
        self.job = job
        self.settings: dict[str, Setting] = {}
        self.notes: list[str] = []
        given = [*job.shared, *job.own]
        engines = [setting for setting in given if setting.key == "ioengine"]
        self.engine = known_engine(engines[-1]) if engines else "psync"
        for setting in given:
            key = known(setting)
            self.settings[key.key] = key
            if key.key in UNSET_AT_ZERO and off(key):
                del self.settings[key.key]
            if key.key in NOTED and off(key) is False:
                note = f"{setting.where}: {setting.key}: {NOTED[key.key]}"
                if note not in self.notes:
                    self.notes.append(note)
        base = self.get("kb_base")
        self.kb_base = values.integer(base) if base else 1024
        if base and self.kb_base not in (1000, 1024):
            raise bad(base, "there are two bases", "1000", "1024")

    def get(self, key: str) -> Setting | None:
        """Return the last setting of a key."""
        return self.settings.get(key)

    def flag(self, key: str, default: bool = False) -> bool:
        """Return a boolean."""
        setting = self.get(key)
        return values.flag(setting) if setting else default

    def integer(self, key: str, default: int, least: int = 0) -> int:
        """Return an integer of at least `least`."""
        setting = self.get(key)
        return values.integer(setting, least) if setting else default

    def time_us(self, key: str, unit: str = "s") -> int | None:
        """Return a time in microseconds; `unit` is the unit of a bare number."""
        setting = self.get(key)
        return values.time_us(setting, unit) if setting else None

    def percent_ppm(self, key: str) -> int:
        """Return a share in millionths; absent means 0."""
        setting = self.get(key)
        if setting is None:
            return 0
        percent = values.integer(setting)
        if percent > 100:
            raise bad(setting, "this is more than the whole", "0 to 100")
        return percent * 10_000

    def bytes(self, key: str) -> int | None:
        """Return a size that may not be a share."""
        setting = self.get(key)
        if setting is None:
            return None
        value = values.size(setting, self.kb_base)
        if isinstance(value, Percent):
            raise bad(setting, "a share of the file is not supported here", "a size in bytes")
        return value

    def refuse(self, key: str, why: str, hint: str = "") -> BadInput:
        """Return the error of an unsupported setting."""
        setting = self.settings[key]
        found = setting.value or "set"
        where, key = setting.where, setting.own_key
        return BadInput(f"not supported: {why}", where=where, key=key, found=found, hint=hint)


def off(setting: Setting) -> bool:
    """Return whether a setting switches its feature off."""
    return setting.value in ("0", "false", "none")


NODES = Path("/sys/devices/system/node")
MOST_PROCESSORS = 1024


def processors_of(settings: Mapping[str, Setting]) -> list[int] | None:
    """Return the processors that a job may use; raise `BadInput` for a missing node."""
    keys = ("cpus_allowed", "cpumask", "numa_cpu_nodes")
    named = [settings[key] for key in keys if key in settings]
    if not named:
        return None
    setting = named[-1]
    match setting.key:
        case "cpus_allowed":
            return _numbers(setting, values.text(setting))
        case "cpumask":
            mask = values.integer(setting)
            return [number for number in range(MOST_PROCESSORS) if mask >> number & 1] or None
    nodes = values.text(setting)
    wanted = _nodes() if nodes == "all" else _numbers(setting, nodes)
    processors: set[int] = set()
    for node in wanted:
        try:
            text = (NODES / f"node{node}" / "cpulist").read_text(encoding="utf-8").strip()
        except OSError:
            there = ", ".join(map(str, _nodes()))
            raise bad(setting, f"this machine has no node {node}", there or "no nodes") from None
        processors |= set(_numbers(setting, text)) if text else set()
    if not processors:
        raise bad(setting, "these nodes have no processor", "nodes with processors")
    return sorted(processors)


def is_split(settings: Mapping[str, Setting]) -> bool:
    """Return whether each clone has a processor of its own."""
    setting = settings.get("cpus_allowed_policy")
    if setting is None or setting.value == "shared":
        return False
    if setting.value != "split":
        raise bad(setting, "processors are not shared out like this", "shared", "split")
    return True


def _nodes() -> list[int]:
    matches = (re.fullmatch(r"node(\d+)", path.name) for path in NODES.glob("node*"))
    return sorted(int(match[1]) for match in matches if match)


def _numbers(setting: Setting, text: str) -> list[int]:
    """Parse a list such as `0,2-4`."""
    numbers: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part.strip())
        if not match or int(match[2] or match[1]) >= MOST_PROCESSORS:
            raise bad(setting, f"`{part}` is no number or range of them", "0,2-4")
        numbers |= set(range(int(match[1]), int(match[2] or match[1]) + 1))
    return sorted(numbers)


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
        hint = "In a study (`--study` prints it), `duty` pauses a stream with a rate."
        raise reader.refuse("thinktime", "a rate fixes when requests start", hint)
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


@dataclass(frozen=True)
class Stride:
    """Runs of `run` bytes, each followed by a gap of `skip` bytes."""

    run: int
    skip: int
    backwards: bool = False
    once: bool = False
    """End the job after one pass over its region, as in a forward read-only job."""

    def table(self) -> str:
        """Return a stream's pattern."""
        way = "true" if self.backwards else "false"
        sizes = f'run = "{self.run} B", skip = "{self.skip} B"'
        return f"{{ strided = {{ {sizes}, backwards = {way} }} }}"

    def bytes_in(self, span: int) -> int:
        """Return the bytes of all requests, one run each, in one pass over `span` bytes."""
        return ((span - self.run) // (self.run + self.skip) + 1) * self.run


def stride_of(setting: Setting, mix: Sequence[tuple[int, int]], kb_base: int) -> Stride | None:
    """Return the gaps of `rw=read:N`; N below zero goes backwards."""
    word, colon, rest = values.text(setting).partition(":")
    if not colon:
        return None
    backwards = rest.startswith("-")
    step = values.size_of(setting, rest.removeprefix("-"), kb_base)
    if not step:
        return None
    if len(mix) > 1:
        raise bad(setting, "steps after requests of several lengths are ambiguous", "one length")
    block = mix[0][0]
    if not backwards:
        return Stride(block, step, once=word == "read")
    if step < 2 * block:
        message = "a step back this short reads the same bytes again"
        raise bad(setting, message, f"twice the block or more: -{2 * block}")
    return Stride(block, step - 2 * block, backwards=True)


def zones_of(settings: Mapping[str, Setting], kb_base: int) -> Stride | None:
    """Return the gaps of `zonemode=strided`; zoned devices are not supported."""

    def length(key: str) -> int | None:
        setting = settings.get(key)
        size_bytes = values.size(setting, kb_base) if setting else None
        if setting and isinstance(size_bytes, Percent):
            raise bad(setting, "a share of the file is not supported here", "a size in bytes")
        return size_bytes if isinstance(size_bytes, int) else None

    mode, size = settings.get("zonemode"), length("zonesize")
    word = mode.value if mode else ("strided" if size else "none")
    if word == "none":
        return None
    if mode and word == "zbd":
        message = "zoned devices are not supported"
        raise BadInput(message, where=mode.where, key="zonemode", found="zbd")
    if mode and word != "strided":
        raise bad(mode, "unknown zone mode", "none", "strided")
    if not size:
        assert mode
        raise bad(mode, "the zone size is missing", "zonesize=64m")
    span = length("zonerange")
    if span is not None and span != size:
        message = "not supported: a zone is passed through whole"
        raise BadInput(message, where=settings["zonerange"].where, key="zonerange", found=str(span))
    return Stride(size, length("zoneskip") or 0)


ERROR_KINDS = ("read", "write", "verify")
"""Kinds of errors, in the order of `ignore_error`'s lists."""
ERROR_WORDS = {
    "none": (),
    "0": (),
    "read": ("read",),
    "write": ("write",),
    "verify": ("verify",),
    "io": ("read", "write"),
    "all": ERROR_KINDS,
    "1": ERROR_KINDS,
}
FAILING_REQUESTS = {"read": ("read",), "write": ("write", "trim", "sync")}
"""Requests that fail with each kind of error: as in fio, everything but a read counts as a write.
"""


@dataclass(frozen=True)
class Failures:
    """Kinds of errors that a job tolerates, and errors that it ignores, by kind."""

    kinds: tuple[str, ...] = ()
    ignored: tuple[tuple[str, int], ...] = ()

    @property
    def tolerated(self) -> list[str]:
        """Return the requests that may fail, in a study's terms."""
        kinds = {*self.kinds, *(kind for kind, _ in self.ignored)}
        return [word for kind, words in FAILING_REQUESTS.items() if kind in kinds for word in words]

    def counted(self, failed: Iterable[Mapping[str, object]]) -> list[tuple[str, int, int]]:
        """Return kind, error and number of the counted failures of a record."""
        failures = []
        for failure in failed:
            kind = "read" if failure["operation"] == "read" else "write"
            error, count = int(str(failure["error"])), int(str(failure["count"]))
            if (kind, error) not in self.ignored:
                failures.append((kind, error, count))
        return failures

    def fatal(self, failed: Iterable[Mapping[str, object]]) -> tuple[int, str] | None:
        """Return the first error that would have ended the job in fio, and a sentence."""
        for kind, error, count in self.counted(failed):
            if kind not in self.kinds:
                message = f"{count} requests failed ({kind}: {os.strerror(error)})"
                return error, message
        return None


def failures_of(reader: Reader) -> Failures:
    """Read the tolerated errors of a job; raise `BadInput` for an unknown kind or error."""
    setting = reader.get("continue_on_error")
    kinds: tuple[str, ...] = ()
    if setting:
        word = setting.value or "1"
        if word not in ERROR_WORDS:
            raise bad(setting, "unknown kind of error", *ERROR_WORDS)
        kinds = ERROR_WORDS[word]
        if "verify" in kinds and reader.get("verify"):
            note = "a block that fails verification fails the run, whatever this says"
            reader.notes.append(f"{setting.where}: continue_on_error: {note}")
    ignored: list[tuple[str, int]] = []
    setting = reader.get("ignore_error")
    if setting:
        lists = values.text(setting).split(",")
        if len(lists) > len(ERROR_KINDS):
            raise bad(setting, "only reads, writes and verification have errors", "READ,WRITE")
        for kind, names in zip(ERROR_KINDS, lists, strict=False):
            ignored += [(kind, _error_number(setting, name)) for name in names.split(":") if name]
    return Failures(kinds, tuple(ignored))


def _error_number(setting: Setting, name: str) -> int:
    """Return an error number from a name or number."""
    if name.isdigit() and int(name) in errno.errorcode:
        return int(name)
    number = getattr(errno, name, None)
    if not isinstance(number, int):
        raise bad(
            setting, f"`{name}` is not an error of this system", "a name such as ENOSPC", "28"
        )
    return number
