"""Translation of fio jobs into a study: storages, streams, phases, and their files."""

from __future__ import annotations

import itertools
import json
import math
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tameshi.core.errors import BadInput, refuse_all
from tameshi.fio.goals import Steady
from tameshi.fio.job import Job
from tameshi.fio.options import Stride
from tameshi.fio.regions import Storage, amount_of, refuse_partial_sectors, region_of
from tameshi.fio.streams import Stream, ends_with, phases_that_run
from tameshi.fio.values import WHOLE_PPM

DIRECT_BYTES = 4096
"""Size unit of a direct target in bytes, so that any disk accepts its last request."""
CHECKED_BYTES = 4096
"""Verification unit in bytes."""
READ_BACK_BYTES = 1 << 20
READ_BACK_DEPTH = 8
SEED = 20_261_121
"""Seed of repeatable jobs without `randseed`."""
FILES = "tameshi-files"
"""Directory of numbered files, next to a job's files."""
_ODD = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Translation:
    """Study equivalent to fio jobs."""

    name: str
    study: str
    streams: Sequence[Stream]
    paths: dict[str, Path]
    """Path of each storage in the measured world."""
    notes: Sequence[str]


@dataclass
class _Builder:
    """Storages and names in use."""

    device: str | None
    storages: dict[str, Storage] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def storage(self, path: str) -> Storage:
        """Return the storage of a file."""
        if path not in self.storages:
            name = self.unique(os.path.basename(path) or "file")
            self.storages[path] = Storage(name, path)
        return self.storages[path]

    def unique(self, wanted: str) -> str:
        """Return an unused name for the study."""
        plain = _ODD.sub("-", wanted).strip("-") or "job"
        name, number = plain, 2
        while name in self.names:
            name, number = f"{plain}-{number}", number + 1
        self.names.add(name)
        return name


def translate(jobs: Sequence[Job], name: str, device: str | None) -> Translation:
    """Translate jobs into a study; `device` is the profile of every file, if simulated.

    Raises `BadInput` for unsupported combinations of jobs.
    """
    if not jobs:
        raise BadInput("no job given", where=name, accepted=["[NAME] in a job file", "--name"])
    builder = _Builder(device)
    phases, groups = _phases(jobs)
    jobs, phases, groups = phases_that_run(jobs, phases, groups)
    streams: list[Stream] = []
    tables: list[str] = []
    refused: list[BadInput] = []
    threads = itertools.accumulate((job.clones for job in jobs), initial=0)
    for job, phase, group, thread in zip(jobs, phases, groups, threads, strict=False):
        try:
            for stream, table in _streams(job, phase, group, thread, builder):
                streams.append(stream)
                tables.append(table)
        except BadInput as error:
            refused.append(error)
    refuse_all(refused)
    for number, others in enumerate(ends_with(streams)):
        if others:
            tables[number] += f"ends_with = [{', '.join(map(quoted, others))}]\n"
    text = "\n".join(
        [
            _head(jobs, name),
            *(_storage(storage, device) for storage in builder.storages.values()),
            *tables,
            *_phase_tables(streams),
            *_read_back(streams, builder),
            *_search(streams),
        ]
    )
    paths = {storage.name: Path(path) for path, storage in builder.storages.items()}
    notes = list(dict.fromkeys(note for job in jobs for note in job.notes))
    return Translation(name, text, streams, paths, notes)


def _streams(
    job: Job, phase: int, group: int, thread: int, builder: _Builder
) -> Iterator[tuple[Stream, str]]:
    """Yield a job's streams with their tables; `thread` counts the threads of earlier jobs."""
    for clone, clones, number, path in _clones(job):
        storage = builder.storage(path)
        name_of = job.name if clones == job.clones else f"{job.name}-{clone}"
        name = builder.unique(name_of if job.parts == 1 else f"{name_of}-file-{number}")
        table = _stream(job, name, storage, clone, clones, builder.device)
        if job.processors:
            own = [job.processors[(thread + clone) % len(job.processors)]]
            table += f"processors = {own if job.split else job.processors}\n"
        if job.donor:
            table += _donor(job, storage, builder)
        yield Stream(name, job, clone, clones, storage.name, phase, group, path), table


def _phases(jobs: Sequence[Job]) -> tuple[list[int], list[int]]:
    """Return each job's phase, counted from zero, and reporting group."""
    phases: list[int] = []
    groups: list[int] = []
    for number, job in enumerate(jobs):
        phase, group = (phases[-1], groups[-1]) if phases else (0, 0)
        if job.stonewall and number:
            phase, group = max(phases) + 1, group + 1
        elif job.new_group and number:
            group += 1
        if job.wait_for:
            phase = _after(jobs, phases, job)
        phases.append(phase)
        groups.append(group)
    return phases, groups


def _after(jobs: Sequence[Job], phases: Sequence[int], job: Job) -> int:
    """Return the phase after the job that `job` waits for, if that job is alone in its phase."""
    named = [
        phase for other, phase in zip(jobs, phases, strict=False) if other.name == job.wait_for
    ]
    if not named:
        message = "no earlier job has this name"
        raise job.refusal("wait_for", message, found=job.wait_for or "")
    beside = [
        other.name
        for other, phase in zip(jobs, phases, strict=False)
        if phase == named[-1] and other.name != job.wait_for
    ]
    if beside:
        message = f"not supported: {beside[0]} runs beside it, and phases follow whole"
        raise job.refusal("wait_for", message, found=job.wait_for or "")
    return named[-1] + 1


def _clones(job: Job) -> Iterator[tuple[int, int, int, str]]:
    """Yield a job's clones: first number, clones together, number of the file, file.

    Clones share a stream where possible; each file needs a stream of its own.
    """
    shared = bool(job.files) and not job.split
    apart = job.offset_increment or job.logs.per_clone or not job.group_reporting
    together = shared and (job.clones == 1 or not apart)
    for clone in range(1 if together else job.clones):
        for part in range(job.parts):
            yield clone, job.clones if together else 1, part, _path(job, clone, part)


def _path(job: Job, clone: int, part: int) -> str:
    if job.files_each:
        return os.path.join(job.directory, FILES)
    if job.files:
        name = job.files[part]
    else:
        form = job.filename_format or "$jobname.$jobnum.$filenum"
        name = form.replace("$jobname", job.name.replace("/", "."))
        name = name.replace("$jobnum", str(clone)).replace("$filenum", str(part))
    return os.path.join(job.directory, name)


def _stream(
    job: Job, name: str, storage: Storage, clone: int, clones: int, device: str | None
) -> str:
    """Return a stream's table; grow its storage to the stream's needs."""
    begin, span = region_of(job, storage, clone, device)
    needed = begin + span
    if job.direct and not job.files_each:
        needed = -(-needed // DIRECT_BYTES) * DIRECT_BYTES
    storage.size = max(storage.size or 0, needed, 0 if job.files_each else job.file_size or 0)
    storage.sparse = storage.sparse and job.sparse and not job.files_each
    if job.direct is False and device:
        message = "a simulated drive has no page cache"
        raise job.refusal("direct", message, hint="Add --direct=1.")
    if job.direct and not device and not job.files_each:
        refuse_partial_sectors(job, begin, storage.path)
    lines = [
        f"[workload.stream.{name}]",
        f"storage = {quoted(storage.name)}",
        f"pattern = {_pattern(job)}",
        f"read = {_share(job.read_ppm)}",
        *([f"run_length = {job.run_length}"] if job.run_length > 1 else []),
        *([f"align = {_bytes(job.align)}"] if job.align else []),
        f"queue_depth = {job.depth // job.parts}",
        f"jobs = {clones}",
        f"access = {quoted('direct' if job.direct and not job.files_each else 'buffered')}",
        *([f"call = {quoted(job.call)}"] if job.call else []),
        f"offset = {_bytes(begin)}",
        f"span = {_bytes(span)}",
        *_lengths(job),
    ]
    amount = amount_of(job, span)
    if amount is not None:
        lines.append(f"amount = {_bytes(amount * clones)}")
    lines += _timing(job, clones)
    lines += _threads(job, clone, clones)
    if job.sync:
        kind, every = job.sync
        lines.append(f"sync = {{ {kind} = {{ every = {every} }} }}" if every else 'sync = "dsync"')
    if job.end_sync:
        lines.append("sync_at_end = true")
    if job.failures.tolerated:
        lines.append(f"tolerates = [{', '.join(map(quoted, job.failures.tolerated))}]")
    if job.trim_first:
        lines.append("trim_first = true")
    if job.verify:
        _refuse_unchecked(job, begin, device)
        lines.append('verify = "checksum"')
    shares = [("compressible", job.compress_ppm), ("duplicate", job.duplicate_ppm)]
    for key, ppm in [("trim", job.trim_ppm), *shares]:
        if ppm:
            lines.append(f"{key} = {_share(ppm)}")
    return "\n".join(lines) + "\n"


def _donor(job: Job, storage: Storage, builder: _Builder) -> str:
    """Return a stream's donor of extents: a file as long as its own."""
    name, in_place = job.donor or ("", False)
    donor = builder.storage(os.path.join(job.directory, name))
    donor.size = max(donor.size or 0, storage.size or 0)
    donor.sparse = True
    own = f"storage = {quoted(donor.name)}" + (", in_place = true" if in_place else "")
    return f"donor = {{ {own} }}\n"


def _refuse_unchecked(job: Job, begin: int, device: str | None) -> None:
    """Refuse a verifying job whose blocks cannot be checked."""
    if device:
        why = "a simulated drive holds no data to check"
    elif begin % CHECKED_BYTES or any(length % CHECKED_BYTES for length in job.lengths):
        why = "verification needs requests aligned to 4 KiB"
    elif job.trim_ppm or job.trim_first:
        why = "the content of a trimmed block is undefined"
    else:
        return
    found = job.settings["verify"].value or "set"
    raise job.refusal("verify", f"not supported: {why}", found=found)


def _read_back(streams: Sequence[Stream], builder: _Builder) -> Iterator[str]:
    """Yield a last phase that reads, and so checks, all data written by verifying jobs."""
    checked = [stream for stream in streams if stream.job.verify]
    for stream in checked:
        written = any(s.storage == stream.storage and s.job.writes for s in checked)
        if not written:
            message = "not supported: no job here writes what this one should check"
            hint = "`tameshi verify` checks the writes of an earlier run."
            raise stream.job.refusal("verify", message, hint=hint)
    names: list[str] = []
    writers = [stream for stream in checked if stream.job.writes and stream.job.read_back]
    for storage in dict.fromkeys(stream.storage for stream in writers):
        on_storage = [stream for stream in writers if stream.storage == storage]
        parts = [region_of(s.job, builder.storage(s.file), s.clone, None) for s in on_storage]
        begin = min(part[0] for part in parts)
        span = max(sum(part) for part in parts) - begin
        span -= span % CHECKED_BYTES
        names.append(builder.unique(f"{storage}-read-back"))
        access = "direct" if on_storage[0].job.direct else "buffered"
        lines = [
            f"[workload.stream.{names[-1]}]",
            f"storage = {quoted(storage)}",
            'pattern = "sequential"',
            'verify = "checksum"',
            f"queue_depth = {READ_BACK_DEPTH}",
            f"access = {quoted(access)}",
            f"offset = {_bytes(begin)}",
            f"span = {_bytes(span)}",
            f"block_size = {_bytes(math.gcd(span, READ_BACK_BYTES))}",
            f"amount = {_bytes(span)}",
        ]
        yield "\n".join(lines) + "\n"
    if names:
        workload = ", ".join(quoted(f"stream.{name}") for name in names)
        until = f"until = {{ amount = {_bytes(1 << 62)} }}"
        yield f"[phase.read-back]\nworkload = [{workload}]\n{until}\n"


def _threads(job: Job, clone: int, clones: int) -> list[str]:
    """Return the thread settings of a stream: polling, pace."""
    lines = []
    if job.polled:
        lines.append('submission = "io_uring_polled"')
    if job.flow:
        group, weight = job.flow
        lines.append(f"pace = {{ group = {quoted(group)}, weight = {weight * clones} }}")
    elif job.parts > 1 and not job.rate:
        # A clone uses its files in turn: none may be ahead of the others.
        lines.append(f"pace = {{ group = {quoted(f'{job.name}-{clone}')}, weight = 1 }}")
    return lines


def _search(streams: Sequence[Stream]) -> Iterator[str]:
    """Yield the search for the highest load that keeps a job's latency target."""
    seekers = [stream for stream in streams if stream.job.goals.target]
    if not seekers:
        return
    job = seekers[0].job
    why = ""
    if len(streams) > 1:
        why = "the load search needs a single job"
    elif job.rate:
        why = "the load is fixed by a rate"
    elif 0 < job.read_ppm < WHOLE_PPM or job.trim_ppm:
        why = "the load search needs a job that only reads or only writes"
    if why:
        found = str(job.settings["latency_target"].value)
        raise job.refusal("latency_target", f"not supported: {why}", found=found)
    assert job.goals.target
    yield job.goals.target.search(seekers[0].name, "read" if job.read_ppm else "write")


def _timing(job: Job, clones: int) -> list[str]:
    lines = []
    if job.delay_us:
        lines.append(f"delay = {_time(job.delay_us)}")
    if job.runtime_us and not job.goals.target:
        lines.append(f"duration = {_time(job.ramp_us + job.runtime_us)}")
    if job.think.pause_us:
        lines.append(f"think_time = {_time(job.think.pause_us)}")
    if job.think.every > 1:
        lines.append(f"think_every = {job.think.every}")
    if job.think.duty_us:
        work, pause = map(_time, job.think.duty_us)
        lines.append(f"duty = {{ on = {work}, off = {pause} }}")
    if job.rate:
        rate, poisson = job.rate
        thousandths = round(rate * 1000) * clones // job.parts
        text = f"{thousandths // 1000}.{thousandths % 1000:03d} /s"
        kind = "poisson" if poisson else "constant"
        lines.append(f"arrivals = {{ {kind} = {{ rate = {quoted(text)} }} }}")
    return lines


def _lengths(job: Job) -> list[str]:
    if job.block:
        return [f"block_size = {_bytes(job.block)}"]

    def listed(mix: Sequence[tuple[int, int]]) -> str:
        parts = (f"{{ size = {_bytes(size)}, share = {_share(share)} }}" for size, share in mix)
        return f"[{', '.join(parts)}]"

    writes = [f"write_block_size_mix = {listed(job.write_mix)}"] if job.write_mix else []
    return [f"block_size_mix = {listed(job.mix)}", *writes]


def _pattern(job: Job) -> str:
    kind, value = job.pattern
    match kind:
        case "strided":
            assert isinstance(value, Stride)
            return value.table()
        case "zipf":
            return f"{{ zipf = {{ theta_permille = {value} }} }}"
        case "pareto":
            assert isinstance(value, int)
            return f"{{ pareto = {{ hot = {_share(value)} }} }}"
        case "zoned":
            assert isinstance(value, list)
            zones = ", ".join(
                f"{{ accesses = {_share(accesses)}, span = {_share(span)} }}"
                for accesses, span in value
            )
            return f"{{ zoned = [{zones}] }}"
    return quoted(kind)


def _phase_tables(streams: Sequence[Stream]) -> Iterator[str]:
    """Yield a table for each phase: its streams and its end."""
    for phase in sorted({stream.phase for stream in streams}):
        among = [stream for stream in streams if stream.phase == phase]
        jobs = [stream.job for stream in among]
        ramps = {job.ramp_us for job in jobs}
        if len(ramps) > 1:
            late = next(job for job in jobs if job.ramp_us != jobs[0].ramp_us)
            message = "not supported: jobs that run together share their ramp"
            raise late.refusal("ramp_time", message)
        names = ", ".join(quoted(f"stream.{stream.name}") for stream in among)
        lines = [f"[phase.{_phase_name(phase)}]", f"workload = [{names}]"]
        ramp = ramps.pop()
        steady = _steady(jobs)
        # The ramp before fio's first steady-state check is excluded.
        if left_out := ramp + (steady.ramp_us if steady else 0):
            lines.append(f"ramp = {_time(left_out)}")
        lines.append(f"until = {{ {_end(jobs, ramp)}{_until_steady(jobs, steady)} }}")
        yield "\n".join(lines) + "\n"


def _end(jobs: Sequence[Job], ramp: int) -> str:
    """Return the latest end of a phase."""
    target = jobs[0].goals.target
    if target:
        return f"time = {_time(ramp + target.window_us)}"
    ends = [job.delay_us + ramp + job.runtime_us for job in jobs if job.runtime_us]
    if len(ends) == len(jobs) and not any(job.end_sync for job in jobs):
        return f"time = {_time(max(ends))}"
    # Each stream has its own end; the phase's amount bounds none of them.
    return f"amount = {_bytes(1 << 62)}"


def _steady(jobs: Sequence[Job]) -> Steady | None:
    """Return the steady state that ends a phase: the same for all its jobs."""
    criteria = {job.goals.steady for job in jobs}
    if len(criteria) > 1:
        late = next(job for job in jobs if job.goals.steady)
        message = "not supported: jobs that run together are judged together, and alike"
        raise late.refusal("steadystate", message)
    return criteria.pop()


def _until_steady(jobs: Sequence[Job], steady: Steady | None) -> str:
    longest = max((job.runtime_us or 0 for job in jobs), default=0)
    return f", steady = {steady.rule(longest or None)}" if steady else ""


def _phase_name(phase: int) -> str:
    return f"group-{phase}"


def _head(jobs: Sequence[Job], name: str) -> str:
    seeds = {job.seed for job in jobs if job.seed is not None}
    if len(seeds) > 1:
        late = [job for job in jobs if job.seed is not None][-1]
        message = "not supported: one seed serves a run"
        raise late.refusal("randseed", message)
    if seeds:
        seed = seeds.pop()
    elif all(job.repeatable for job in jobs):
        seed = SEED
    else:
        seed = int.from_bytes(os.urandom(6), "little")
    interval = min(job.interval_us for job in jobs)
    checks = [job.goals.steady.interval_us for job in jobs if job.goals.steady]
    windows = [job.goals.target.window_us // 4 for job in jobs if job.goals.target]
    interval = min([interval, *checks, *windows])
    return "\n".join(
        [
            f"title = {quoted(f'fio: {name}')}",
            f"question = {quoted('What do these fio jobs do?')}",
            "",
            "[run]",
            f"interval = {_time(interval)}",
            f"seed = {seed}",
            *(['start = "cold"'] if any(_is_cold(job) for job in jobs) else []),
            "",
        ]
    )


def _is_cold(job: Job) -> bool:
    """Return whether the page cache drops a job's file before the run: fio's `invalidate`."""
    return job.invalidate and not job.direct and not job.files_each


def _storage(storage: Storage, device: str | None) -> str:
    lines = [f"[storage.{storage.name}]", f"size = {_bytes(storage.size or 0)}"]
    if storage.sparse and not device:
        lines.append("sparse = true")
    if device:
        lines.append(f"device = {quoted(device)}")
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    """Return a string as TOML."""
    return json.dumps(text, ensure_ascii=False)


def _bytes(count: int) -> str:
    return f'"{count} B"'


def _time(microseconds: int) -> str:
    return f'"{microseconds} us"'


def _share(ppm: int) -> str:
    percent, part = divmod(ppm, WHOLE_PPM // 100)
    return f'"{percent}.{part:04d} %"' if part else f'"{percent} %"'
