"""Interpretation of one fio job: keys to values, with fio's defaults; refusal of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tameshi.core.errors import BadInput
from tameshi.fio import values
from tameshi.fio.goals import Goals, goals_of
from tameshi.fio.jobfile import JobText, Setting
from tameshi.fio.keys import CALLS, ENGINES, IN_DIRECTORY
from tameshi.fio.offsets import READS, TRIM_FIRST, TRIMS, align_of, pattern_of
from tameshi.fio.options import (
    Failures,
    Reader,
    donor_of,
    failures_of,
    file_bytes,
    is_sparse,
    is_split,
    off,
    processors_of,
    rate_of,
)
from tameshi.fio.values import Percent, bad

BLOCK_BYTES = 4096
LENGTHS = ("bssplit", "bsrange", "bs")
"""Keys of request lengths, the strongest first."""
DEFAULT_PERCENTILES = (
    *(1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0),
    *(80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99),
)
MOST_CLONES = 4096

CHECKSUMS = (
    *("crc7", "crc16", "crc32", "crc32c", "crc32c-intel", "crc64", "md5", "meta", "xxhash"),
    *("sha1", "sha224", "sha256", "sha384", "sha512"),
    *("sha3-224", "sha3-256", "sha3-384", "sha3-512"),
)
"""Verification methods that detect changed blocks."""
POLLED = ("io_uring", "pvsync2")
"""Engines whose completions fio can poll for."""
DIRECTIONS = [*READS, "write", "randwrite", *sorted(TRIMS)]


@dataclass(frozen=True)
class Logs:
    """Prefixes of requested logs, by kind: bw, iops, lat, hist."""

    prefixes: dict[str, str]
    interval_us: int
    coarseness: int
    offset: bool
    per_job: bool

    @property
    def per_clone(self) -> bool:
        """Return whether each clone of the job writes logs of its own."""
        return self.per_job and bool(self.prefixes)


@dataclass(frozen=True)
class Think:
    """Pause of a slot and the requests between two pauses; or a time of work and its pause."""

    pause_us: int
    every: int
    duty_us: tuple[int, int] | None


@dataclass(frozen=True)
class Job:
    """Interpreted job. Lengths in bytes, times in microseconds, shares in millionths."""

    text: JobText
    name: str
    settings: dict[str, Setting]
    direction: str
    random: bool
    run_length: int
    read_ppm: int
    trim_ppm: int
    trim_first: bool
    """Each write waits for a trim of its range."""
    engine: str
    call: str | None
    """File system call that replaces data transfer."""
    donor: tuple[str, bool] | None
    """Donor file of moved extents, and whether it allocates each extent only at its move."""
    files_each: int | None
    """Number of files per clone in a directory, if each request addresses a file."""
    depth: int
    direct: bool
    invalidate: bool
    """Drop the job's file from the page cache before the run (fio's `invalidate`)."""
    mix: list[tuple[int, int]]
    """Request lengths with their shares; of reads, if writes have their own."""
    write_mix: list[tuple[int, int]] | None
    size: int | Percent | None
    file_size: int | None
    io_size: int | None
    offset: int | Percent
    offset_increment: int
    loops: int
    most_ios: int | None
    clones: int
    runtime_us: int | None
    time_based: bool
    ramp_us: int
    delay_us: int
    think: Think
    flow: tuple[str, int] | None
    """Group of jobs with a common pace, and the job's weight in it."""
    rate: tuple[float, bool] | None
    """Requests per second of one clone, and whether arrivals are a Poisson process."""
    sync: tuple[str, int] | None
    """`fsync` or `fdatasync` with the number of writes between two, or `dsync`."""
    end_sync: bool
    polled: bool
    processors: list[int] | None
    split: bool
    """One processor per clone."""
    align: int | None
    goals: Goals
    pattern: tuple[str, object]
    compress_ppm: int
    duplicate_ppm: int
    verify: bool
    read_back: bool
    """Read back and check the written data at the end."""
    sparse: bool
    """The file may stay unallocated until it is written."""
    failures: Failures
    exitall: bool
    """The end of any job ends the jobs selected by its `exit_what`."""
    exit_what: str
    stonewall: bool
    new_group: bool
    wait_for: str | None
    group_reporting: bool
    percentiles: Sequence[float]
    clat_percentiles: bool
    lat_percentiles: bool
    logs: Logs
    directory: str
    files: list[str]
    """File names; if empty, one or `parts` names made from the job's name."""
    parts: int
    """Files that each clone uses in turn."""
    filename_format: str | None
    seed: int | None
    repeatable: bool
    interval_us: int
    notes: list[str] = field(default_factory=list)

    def refusal(self, key: str, message: str, **facts: Any) -> BadInput:
        """Return the error of a setting; of the job as a whole if it lacks that setting."""
        setting = self.settings.get(key)
        where, key = (setting.where, setting.own_key) if setting else (self.text.where, key)
        return BadInput(message, where=where, key=key, **facts)

    @property
    def block(self) -> int | None:
        """Return the length of requests, if there is only one."""
        return self.lengths[0] if len(self.lengths) == 1 else None

    @property
    def longest(self) -> int:
        """Return the longest request."""
        return max(self.lengths)

    @property
    def lengths(self) -> list[int]:
        """Return every length of requests, reads first; lengths common to reads and writes appear
        twice."""
        return [length for length, _ in (*self.mix, *(self.write_mix or ()))]

    @property
    def writes(self) -> bool:
        """Return whether the job writes."""
        return self.read_ppm + self.trim_ppm < values.WHOLE_PPM

    @property
    def changes(self) -> bool:
        """Return whether the job changes its file by writes or trims."""
        return self.read_ppm < values.WHOLE_PPM


def read_job(text: JobText) -> Job:
    """Interpret a job of a job file; raise `BadInput` at an unsupported key."""
    reader = Reader(text)
    direction, run_length = _direction(reader)
    read_ppm = _read_share(reader, direction)
    trim_ppm = values.WHOLE_PPM if direction in ("trim", "randtrim") else 0
    mix, write_mix = _mix(reader, read_ppm, trim_ppm)
    engine, depth = _engine(reader)
    sizes, files = _sizes(reader), _files(reader)
    files_each = reader.integer("nrfiles", 1, 1) if engine in IN_DIRECTORY else None
    if files_each:
        mix, write_mix = [(file_bytes(reader, sizes, files_each), values.WHOLE_PPM)], None
    rate = rate_of(reader, (read_ppm, trim_ppm), (mix, write_mix or mix))
    read_ppm = read_ppm if not rate or rate[2] is None else rate[2]
    runtime_us, sync = reader.time_us("runtime") or None, _sync(reader, read_ppm)
    return Job(
        text=text,
        name=_name(reader, text),
        settings=reader.settings,
        direction=direction,
        random=direction.startswith("rand"),
        run_length=run_length,
        read_ppm=read_ppm,
        trim_ppm=trim_ppm,
        trim_first=direction in TRIM_FIRST,
        engine=engine,
        call=CALLS.get(engine),
        donor=donor_of(reader, engine),
        files_each=files_each,
        depth=depth,
        direct=_direct(reader),
        mix=mix,
        write_mix=write_mix,
        size=sizes[0],
        file_size=sizes[1],
        io_size=reader.bytes("io_size"),
        offset=_offset(reader),
        offset_increment=reader.bytes("offset_increment") or 0,
        loops=reader.integer("loops", 1, 1),
        most_ios=reader.integer("number_ios", 0) or None,
        clones=_clones(reader),
        runtime_us=runtime_us,
        time_based=reader.flag("time_based"),
        ramp_us=reader.time_us("ramp_time") or 0,
        delay_us=_delay(reader),
        think=_think(reader, depth),
        flow=_flow(reader),
        rate=rate[:2] if rate else None,
        sync=sync,
        end_sync=_end_sync(reader, read_ppm + trim_ppm),
        polled=_polled(reader, sync),
        processors=processors_of(reader.settings),
        split=is_split(reader.settings),
        align=align_of(reader, direction),
        goals=goals_of(reader, runtime_us),
        pattern=pattern_of(reader, direction, [*mix, *(write_mix or ())], run_length),
        compress_ppm=values.WHOLE_PPM
        if reader.flag("zero_buffers")
        else reader.percent_ppm("buffer_compress_percentage"),
        duplicate_ppm=reader.percent_ppm("dedupe_percentage"),
        verify=_verify(reader),
        read_back=reader.flag("do_verify", True),
        sparse=is_sparse(reader, read_ppm),
        failures=failures_of(reader),
        parts=1 if files_each else _parts(reader, files, depth),
        seed=reader.integer("randseed", 0) if reader.get("randseed") else None,
        notes=reader.notes,
        files=files,
        **_company_and_results(reader, text),
    )


def _company_and_results(reader: Reader, text: JobText) -> dict[str, Any]:
    """Return the fields of a job on order, start state, early end and results."""
    return {
        "exitall": reader.flag("exitall"),
        "exit_what": _exit_what(reader),
        "stonewall": reader.flag("stonewall"),
        "invalidate": reader.flag("invalidate", True),
        "new_group": reader.flag("new_group"),
        "wait_for": _wait_for(reader),
        "group_reporting": reader.flag("group_reporting"),
        "percentiles": _percentiles(reader),
        "clat_percentiles": reader.flag("clat_percentiles", True),
        "lat_percentiles": reader.flag("lat_percentiles"),
        "logs": _logs(reader, text.name),
        "directory": _directory(reader),
        "filename_format": _text(reader, "filename_format"),
        "interval_us": _interval(reader),
        "repeatable": reader.flag("allrandrepeat") or reader.flag("randrepeat", True),
    }


def _name(reader: Reader, text: JobText) -> str:
    own = [setting for setting in text.own if setting.key == "name"]
    shared = [setting for setting in text.shared if setting.key == "name"]
    given = [setting.value for setting in (*shared, *own) if setting.value]
    return given[-1] if given else text.name


def _text(reader: Reader, key: str) -> str | None:
    setting = reader.get(key)
    return values.text(setting) if setting else None


def _wait_for(reader: Reader) -> str | None:
    return _text(reader, "wait_for")


def _direction(reader: Reader) -> tuple[str, int]:
    setting = reader.get("rw")
    if setting is None:
        return "read", 1
    word, colon, rest = values.text(setting).partition(":")
    if word not in DIRECTIONS:
        raise bad(setting, "unknown kind of load", *DIRECTIONS)
    if not colon or not word.startswith("rand"):
        return word, 1
    run = values.size_of(setting, rest, reader.kb_base)
    if run < 1:
        raise bad(setting, "a run has at least one request", "1 or more")
    return word, run


def _read_share(reader: Reader, direction: str) -> int:
    if direction in ("read", "randread"):
        return values.WHOLE_PPM
    if direction not in READS:
        return 0
    if reader.get("rwmixread"):
        return reader.percent_ppm("rwmixread")
    if reader.get("rwmixwrite"):
        return values.WHOLE_PPM - reader.percent_ppm("rwmixwrite")
    return values.WHOLE_PPM // 2


def _mix(
    reader: Reader, read_ppm: int, trim_ppm: int
) -> tuple[list[tuple[int, int]], list[tuple[int, int]] | None]:
    """Return lengths with their shares, and those of writes if they differ from reads."""
    given = {key: reader.get(key) for key in LENGTHS}
    setting = next((setting for setting in given.values() if setting), None)
    if setting is None:
        return [(BLOCK_BYTES, values.WHOLE_PPM)], None

    def lengths(part: str) -> list[tuple[int, int]]:
        if not part:
            return [(BLOCK_BYTES, values.WHOLE_PPM)]
        if setting.key == "bssplit":
            return values.block_mix(setting, part, reader.kb_base)
        low, high = values.size_range(setting, part, reader.kb_base)
        if low < 1:
            raise bad(setting, "a request has at least one byte", "1 or more")
        if high // low > 64:
            raise bad(
                setting, "this range has too many lengths", "up to 64 multiples of the smallest"
            )
        return values.even_mix(low, high)

    reads, writes, trims = (lengths(part) for part in values.directions(setting))
    if trim_ppm:
        return trims, None
    if 0 < read_ppm < values.WHOLE_PPM and reads != writes:
        return reads, writes
    return reads if read_ppm else writes, None


def _exit_what(reader: Reader) -> str:
    setting = reader.get("exit_what")
    if setting is None:
        return "group"
    if setting.value not in ("group", "stonewall", "all"):
        raise bad(setting, "unknown scope", "group", "stonewall", "all")
    return setting.value


def _engine(reader: Reader) -> tuple[str, int]:
    depth = reader.integer("iodepth", 1, 1)
    engine = reader.engine
    if depth > 1 and ENGINES[engine] == "sync":
        where = reader.settings["iodepth"].where
        reader.notes.append(
            f"{where}: iodepth: engine {engine} is synchronous and has depth 1, as in fio"
        )
        depth = 1
    reader.notes.append(
        f"{reader.job.where}: ioengine: Tameshi's generator (io_uring) performs the "
        f"requests of {engine}"
    )
    return engine, depth


def _direct(reader: Reader) -> bool:
    if reader.get("direct"):
        return reader.flag("direct")
    return not reader.flag("buffered", True)


def _sizes(reader: Reader) -> tuple[int | Percent | None, int | None]:
    setting = reader.get("size")
    size = values.size(setting, reader.kb_base) if setting else None
    file_size = reader.bytes("filesize")
    return (size if size is not None else file_size), file_size


def _offset(reader: Reader) -> int | Percent:
    setting = reader.get("offset")
    return values.size(setting, reader.kb_base) if setting else 0


def _clones(reader: Reader) -> int:
    clones = reader.integer("numjobs", 1, 1)
    if clones > MOST_CLONES:
        raise bad(reader.settings["numjobs"], "too many threads", f"1 to {MOST_CLONES}")
    return clones


def _delay(reader: Reader) -> int:
    setting = reader.get("startdelay")
    if setting and ("-" in values.text(setting) or ":" in values.text(setting)):
        raise reader.refuse("startdelay", "random delays are not supported")
    return reader.time_us("startdelay") or 0


def _think(reader: Reader, depth: int) -> Think:
    think_us = reader.time_us("thinktime", "us") or 0
    every = reader.integer("thinktime_blocks", 1, 1)
    work_us = reader.time_us("thinktime_iotime") or 0
    if think_us and work_us:
        return Think(0, 1, (work_us, think_us))
    if think_us and depth > 1:
        raise reader.refuse("thinktime", "fio pauses the whole job; here each slot pauses alone")
    return Think(think_us, every if think_us else 1, None)


def _flow(reader: Reader) -> tuple[str, int] | None:
    weight = reader.integer("flow", 0)
    return (f"flow-{reader.integer('flow_id', 0)}", weight) if weight else None


def _end_sync(reader: Reader, unwritten_ppm: int) -> bool:
    wanted = reader.flag("end_fsync") or reader.flag("fsync_on_close")
    return wanted and unwritten_ppm < values.WHOLE_PPM


def _polled(reader: Reader, sync: tuple[str, int] | None) -> bool:
    if not reader.flag("hipri"):
        return False
    if reader.engine not in POLLED:
        raise reader.refuse("hipri", f"engine {reader.engine} polls for nothing, in fio either")
    if not _direct(reader):
        raise reader.refuse("hipri", "polling needs direct I/O")
    if reader.flag("end_fsync") or (sync and sync[1]):
        raise reader.refuse("hipri", "a polled queue cannot sync")
    return True


def _sync(reader: Reader, read_ppm: int) -> tuple[str, int] | None:
    asked: list[tuple[str, tuple[str, int]]] = []
    for key in ("fsync", "fdatasync"):
        if every := reader.integer(key, 0):
            asked.append((key, (key, every)))
    setting = reader.get("sync")
    if setting and setting.value not in ("none", "0"):
        if setting.value not in ("sync", "dsync", "1", None):
            raise bad(setting, "unknown kind of synchronous write", "none", "sync", "dsync")
        if setting.value != "dsync":
            reader.notes.append(f"{setting.where}: sync: O_SYNC becomes O_DSYNC")
        asked.append(("sync", ("dsync", 0)))
    if len(asked) > 1:
        raise reader.refuse(asked[1][0], f"`{asked[0][0]}` makes writes durable already")
    return asked[0][1] if asked and read_ppm < values.WHOLE_PPM else None


def _verify(reader: Reader) -> bool:
    setting = reader.get("verify")
    if setting is None or off(setting):
        return False
    if setting.value not in CHECKSUMS:
        raise reader.refuse("verify", "only checksums verify blocks, patterns don't")
    reader.notes.append(
        f"{setting.where}: verify: XXH3 checks each 4 KiB; a last phase reads back the "
        "written blocks, outside the job's own figures"
    )
    return True


def _percentiles(reader: Reader) -> Sequence[float]:
    setting = reader.get("percentile_list")
    return values.percentiles(setting) if setting else DEFAULT_PERCENTILES


def _directory(reader: Reader) -> str:
    setting = reader.get("directory")
    if setting is None:
        return ""
    folders = values.files(setting)
    if len(folders) != 1:
        raise reader.refuse("directory", "the files of a job share one directory")
    return folders[0]


def _files(reader: Reader) -> list[str]:
    setting = reader.get("filename")
    return values.files(setting) if setting else []


def _parts(reader: Reader, files: Sequence[str], depth: int) -> int:
    """Return the files of a clone, each with a share of the queue."""
    key = "filename" if files else "nrfiles"
    parts = len(files) or reader.integer("nrfiles", 1, 1)
    if parts > 1 and depth % parts:
        raise reader.refuse(key, f"{parts} files cannot share a queue of depth {depth} evenly")
    if parts > 1 and reader.integer("flow", 0):
        raise reader.refuse("flow", "the job's own files keep pace already")
    return parts


LOG_KEYS = {
    "bw": "write_bw_log",
    "iops": "write_iops_log",
    "lat": "write_lat_log",
    "hist": "write_hist_log",
}


def _logs(reader: Reader, name: str) -> Logs:
    prefixes = {}
    for kind, key in LOG_KEYS.items():
        if setting := reader.get(key):
            prefixes[kind] = setting.value or name
    average = reader.integer("log_avg_msec", 0)
    if {"bw", "iops", "lat"} & set(prefixes) and not average:
        where = reader.settings[next(LOG_KEYS[kind] for kind in prefixes)].where
        reader.notes.append(
            f"{where}: logs hold means over intervals (log_avg_msec), never single requests"
        )
    return Logs(
        prefixes,
        interval_us=1000 * (average or reader.integer("log_hist_msec", 0)),
        coarseness=reader.integer("log_hist_coarseness", 0),
        offset=reader.flag("log_offset"),
        per_job=reader.flag("per_job_logs", True),
    )


def _interval(reader: Reader) -> int:
    """Return the interval of the record in microseconds."""
    for key in ("log_avg_msec", "log_hist_msec", "bwavgtime", "iopsavgtime"):
        if milliseconds := reader.integer(key, 0):
            return milliseconds * 1000
    return 500_000
