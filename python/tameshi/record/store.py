"""Study and run folders: creation, sealing and reading. `docs/records.md` is the contract."""

from __future__ import annotations

import fcntl
import hashlib
import itertools
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl

from tameshi import guard
from tameshi.core import compiled, reasons
from tameshi.core.errors import BadInput, TameshiError, unknown_version
from tameshi.core.reasons import Reason, quoted, reason, verdict, worst
from tameshi.core.spec_types import RunSpec
from tameshi.record.events import EVENTS, events_in, read_events, whole_lines
from tameshi.record.phases import completed, unsettled, windows_of
from tameshi.record.seal import OUTCOME, damage_of, sealed_files

RAMP = re.compile(r"Tag=\d+/ramp/")
"""Prefix of interval log lines that belong to a ramp."""
LOG = re.compile(r"histograms/[^/]+\.hlog")
"""Path of a histogram file in a run."""
OUTCOME_VERSION = 2
"""Version of outcome.json: 1, the first; 2, with reasons as data and the seal."""
READABLE = (1, OUTCOME_VERSION)
"""Readable versions of outcome.json."""
IDENTITY_DIGITS = 16
RUNS = "runs"
"""Folder of the records in that of a study."""
ESCAPED = "backslashreplace"
"""Error handler for file names outside the locale's encoding: an escape that JSON can read back."""
LAID_OUT = 2
"""Nesting depth of a JSON file down to which each entry has its own line."""
FIGURES = "figures.json"
"""Figures of an imported run, as another tool computed them."""
SERIES = {
    "t_ns": pl.Int64,
    "dt_ns": pl.Int64,
    "subject": pl.String,
    "metric": pl.String,
    "value": pl.Float64,
}
READ_AS: Mapping[Any, Callable[[str], Any]] = {pl.Int64: int, pl.String: str, pl.Float64: float}
SHORT_SERIES = 256 << 10
"""Characters of a series file up to which Python reads it."""
UNUSUAL = ('"', ",,", ",\n")
"""Quoted and empty values, which Tameshi writes in no series: Polars knows them."""


@dataclass(frozen=True)
class SealedRun:
    """Immutable record of a finished run."""

    folder: Path
    spec: RunSpec
    environment: dict[str, Any]
    outcome: dict[str, Any]
    content: Mapping[str, bytes] | None = field(default=None, repr=False)
    """Files of a run that a pack holds; None: they are in `folder`."""

    @property
    def is_checked(self) -> bool:
        """True if its files match the hashes in its seal; version 1 has none."""
        return "files" in self.outcome

    def series(self) -> pl.DataFrame:
        """Return all series: source, t_ns, dt_ns, subject, metric, value."""
        if self.content is not None:
            return pl.read_parquet(BytesIO(self.content["series.parquet"]))
        return pl.read_parquet(self.folder / "series.parquet")

    def figures(self) -> list[dict[str, Any]]:
        """Return the figures of an imported run: phase, subject, metric, value; else nothing."""
        if self.content is not None:
            data = self.content.get(FIGURES)
        else:
            path = self.folder / FIGURES
            data = path.read_bytes() if path.exists() else None
        return list(json.loads(data)["figures"]) if data is not None else []

    def events(self) -> list[dict[str, Any]]:
        """Return the events of the run."""
        if self.content is not None:
            return events_in(self.content.get(EVENTS, b"").decode())
        return read_events(self.folder)

    def interval_logs(self) -> list[str]:
        """Return the text of each histogram file, in the order of their names."""
        if self.content is not None:
            names = sorted(name for name in self.content if LOG.fullmatch(name))
            texts = [self.content[name].decode() for name in names]
        else:
            logs = sorted((self.folder / "histograms").glob("*.hlog"))
            texts = [log.read_text(encoding="utf-8") for log in logs]
        return [whole_lines(text) for text in texts]

    def latencies(self) -> dict[str, dict[str, Any]]:
        """Return latency statistics (ns) by tag `PHASE/steady/STREAM/OPERATION`; of rounds, the
        window's.

        Omits ramps, which count in no estimate.
        """
        text = "".join(map(_without_ramps, self.interval_logs()))
        windows = {w["phase"]: w["rounds"] for w in self.outcome["windows"] if w["rounds"]}
        counting = {p: (rounds["first"], rounds["last"]) for p, rounds in windows.items()}
        return compiled.latencies(text, counting)


class DamagedRun(TameshiError):
    """Run whose files differ from its seal: its figures are unusable.

    `spec` is None if spec.json is among the damaged files.
    """

    def __init__(self, folder: Path, damage: Reason, spec: RunSpec | None) -> None:
        values = ", ".join(f"{key} {value}" for key, value in damage["values"].items())
        super().__init__(
            "this file of a run is damaged",
            where=str(folder / damage["subject"]),
            found=values or damage["code"].replace("_", " "),
            hint="The same `tameshi run` command sets the run aside and makes it again.",
        )
        self.folder = folder
        self.damage = damage
        self.spec = spec

    def as_failed(self) -> SealedRun | None:
        """Return the run as a failed one, without figures; None if its spec is unknown."""
        if self.spec is None:
            return None
        return _failed_run(self.folder, self.spec, self.folder.name, self.damage)


def identity(spec: RunSpec, environment: Mapping[str, Any]) -> str:
    """Return the identity of a run: canonical spec with profiles, and relevant environment.

    `environment` is the relevant part: hash of the core's code for a simulated run; machine, target
    and server for a measured one.
    """
    return identity_of(compiled.to_json(spec), environment)


def identity_of(spec: str, environment: Mapping[str, Any]) -> str:
    """Return the identity of a run whose spec is this JSON, of the core or of `to_json`."""
    parts = {"spec": json.loads(spec), "environment": environment}
    canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


@contextmanager
def locked_study(folder: Path) -> Iterator[int]:
    """Open the study folder, created if needed, for this process and its workers exclusively.

    Workers inherit the lock's descriptor: the lock lasts until the last of them ends.
    """
    guard.claim_folder(folder)
    with guard.translated(folder):
        lock = os.open(folder / guard.MARKER, os.O_RDWR)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            hint = "Wait for it, or choose another folder with --out."
            raise BadInput(
                "another run of Tameshi works in this folder", where=str(folder), hint=hint
            ) from None
        yield lock
    finally:
        os.close(lock)


def run_folder(study: Path, run_identity: str) -> Path:
    """Return the folder of a run's record."""
    return study / RUNS / run_identity[:IDENTITY_DIGITS]


def with_folders(study: Path, identities: Iterable[str]) -> list[str]:
    """Return those of the runs that have a folder."""
    there = set(os.listdir(study / RUNS)) if (study / RUNS).exists() else set()
    return [each for each in identities if each[:IDENTITY_DIGITS] in there]


def begin_run(
    folder: Path,
    spec: RunSpec,
    run_identity: str,
    environment: Mapping[str, Any],
    *,
    is_scratch: bool = False,
) -> None:
    """Create a run's folder, without remains of an interrupted or failed run.

    Its files are synced by the seal: without one, the run counts for nothing. `is_scratch`: nothing
    in the folder matters after a crash of the machine.
    """
    if folder.exists():
        guard.remove_folder(folder)
    guard.claim_folder(folder, synced=not is_scratch)
    for name in ("series", "histograms"):
        (folder / name).mkdir()
    files = {
        "spec.json": compiled.to_json(spec).encode(),
        "environment.json": as_json({"identity": run_identity, **environment}),
    }
    for name, data in files.items():
        guard.write_file(folder / name, data, synced=False)


def seal(folder: Path, failure: str | None = None, *, synced: bool = True) -> SealedRun:
    """Seal the appended files as a record; the rename of outcome.json comes last.

    `failure` is the reason of a run that ended without stating one. Not `synced`: the record is
    only on its way to another folder.
    """
    spec = _spec_of(json.loads((folder / "spec.json").read_bytes()))
    events = read_events(folder)
    series = _collect_series(folder)
    buffer = BytesIO()
    series.write_parquet(buffer)
    guard.write_file(folder / "series.parquet", buffer.getvalue(), synced=False)
    environment = json.loads((folder / "environment.json").read_bytes())
    outcome = {
        "schema_version": OUTCOME_VERSION,
        "identity": environment["identity"],
        **_ending(events, failure),
        "windows": windows_of(spec, events),
    }
    findings = [event for event in events if event["kind"] == "finding"]
    findings += [off_mix(event) for event in events if event["kind"] == "mix_audit"]
    outcome["verdict"] = _verdict(outcome, [*environment.get("findings", []), *findings])
    outcome["files"] = sealed_files(folder, synced=synced)
    sealed = as_json({**outcome, "sha256": seal_hash(outcome)})
    guard.write_file(folder / OUTCOME, sealed, synced=synced)
    return SealedRun(folder, spec, environment, outcome)


def off_mix(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the verdict of an audit of TPC-C's mix; None for too few transactions."""
    outside = [finding["name"] for finding in event["findings"] if finding["holds"] is False]
    if not outside:
        return verdict("valid")
    return verdict("invalid", reason("off_mix", names=outside))


def read_run(folder: Path) -> SealedRun | None:
    """Return a sealed run; None if it was interrupted before its seal.

    Raises `DamagedRun` if a file differs from the seal, `BadInput` for an unknown version.
    """
    try:
        outcome = json.loads((folder / OUTCOME).read_bytes())
        version = outcome["schema_version"]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(folder, reason("file_unreadable", OUTCOME, error=_line(error))) from None
    if version not in READABLE:
        message = "this record has an unknown version"
        raise unknown_version(message, str(folder), version, READABLE)
    if version >= OUTCOME_VERSION:
        if outcome.pop("sha256", None) != seal_hash(outcome):
            raise _damaged(folder, reason("file_content", OUTCOME))
        damage = damage_of(folder, outcome["files"])
        if damage:
            raise _damaged(folder, damage)
    try:
        outcome["windows"] = [completed(window) for window in outcome["windows"]]
        _with_reasons(outcome)
        spec = _spec_of(json.loads((folder / "spec.json").read_bytes()))
        environment = json.loads((folder / "environment.json").read_bytes())
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(folder, reason("file_unreadable", "spec.json", error=_line(error))) from None
    return SealedRun(folder, spec, environment, outcome)


def run_of(folder: Path, content: Mapping[str, bytes], outcome: dict[str, Any]) -> SealedRun:
    """Return the run of a whole record's files; `folder` is the one that it would have."""
    spec = _spec_of(json.loads(content["spec.json"]))
    outcome["windows"] = [completed(window) for window in outcome["windows"]]
    return SealedRun(folder, spec, json.loads(content["environment.json"]), outcome, content)


def _spec_of(document: Any) -> RunSpec:
    """The spec of a record, without the list that specs held before refusals left the planner."""
    if isinstance(document, dict):
        document.pop("unsupported", None)
    return RunSpec.model_validate(document)


def _with_reasons(outcome: dict[str, Any]) -> None:
    """Convert the sentences of version 1 to reasons."""
    stored = outcome["verdict"]
    outcome["verdict"] = verdict(stored["level"], *map(reasons.completed, stored["reasons"]))
    if outcome["reason"] is not None:
        outcome["reason"] = reasons.completed(outcome["reason"])


def set_aside(study: Path, damaged: DamagedRun) -> Path:
    """Move a damaged run's folder to `damaged/` of its study; return its new path."""
    number = itertools.count(1)
    names = (f"{damaged.folder.name}-{n}" for n in number)
    place = next(p for name in names if not (p := study / "damaged" / name).exists())
    guard.move_folder(damaged.folder, place)
    return place


def _damaged(folder: Path, damage: Reason) -> DamagedRun:
    try:
        spec = _spec_of(json.loads((folder / "spec.json").read_bytes()))
    except (OSError, ValueError):
        spec = None
    return DamagedRun(folder, damage, spec)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())


def write_lost(study: Path, spec: RunSpec, run_identity: str, reason: str) -> None:
    """Mark a run as failed in the study's folder, if its own folder is full."""
    lost = {"spec": json.loads(compiled.to_json(spec)), "identity": run_identity, "reason": reason}
    write_json(_lost(study, run_identity), lost)


def read_lost(study: Path, run_identity: str) -> SealedRun | None:
    """Return a run that could not be sealed, as a failed one; None without such a mark."""
    folder = run_folder(study, run_identity)
    try:
        lost = json.loads(_lost(study, run_identity).read_bytes())
        spec = _spec_of(lost["spec"])
        return _failed_run(folder, spec, lost["identity"], quoted(lost["reason"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        damage = reason("file_unreadable", f"../../lost/{folder.name}.json", error="not JSON")
        raise DamagedRun(folder, damage, None) from None


def _failed_run(folder: Path, spec: RunSpec, run_identity: str, why: Reason) -> SealedRun:
    outcome: dict[str, Any] = {"status": "failed", "reason": why, "digest": None}
    outcome |= {"identity": run_identity, "windows": []}
    outcome["verdict"] = _verdict(outcome, [])
    return SealedRun(folder, spec, {}, outcome)


def _lost(study: Path, run_identity: str) -> Path:
    return study / "lost" / f"{run_identity[:IDENTITY_DIGITS]}.json"


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file atomically."""
    guard.write_file(path, as_json(value))


def seal_hash(value: Any) -> str:
    """Return the hash of an outcome that its seal holds."""
    return hashlib.sha256(as_json(value)).hexdigest()


def as_json(value: Any) -> bytes:
    """Format JSON with outer tables and lists on several lines, deeper ones on one line, which is
    ten times as fast as laying out all levels."""
    return (_laid_out(value, "") + "\n").encode(errors=ESCAPED)


def _laid_out(value: Any, margin: str) -> str:
    inner = margin + " "
    if not value or not isinstance(value, dict | list) or len(margin) == LAID_OUT:
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        items = [_laid_out(item, inner) for item in value]
    else:
        items = [f"{json.dumps(key)}: {_laid_out(item, inner)}" for key, item in value.items()]
    opening, closing = "[]" if isinstance(value, list) else "{}"
    return opening + ",".join(f"\n{inner}{item}" for item in items) + f"\n{margin}{closing}"


def _without_ramps(log: str) -> str:
    """Return an interval log without the histograms of ramps."""
    return "".join(line for line in log.splitlines(keepends=True) if not RAMP.match(line))


def _collect_series(folder: Path) -> pl.DataFrame:
    frames = []
    for path in sorted((folder / "series").glob("*.csv")):
        text = whole_lines(path.read_text(encoding="utf-8"))
        if text:
            frame = _series_in(text)
            source = pl.Series("source", [path.stem] * len(frame), dtype=pl.String)
            frames.append(frame.insert_column(0, source))
    if not frames:
        return pl.DataFrame(schema={"source": pl.String, **SERIES})
    return frames[0] if len(frames) == 1 else pl.concat(frames)


def _series_in(text: str) -> pl.DataFrame:
    """Return the rows of a series file; for a short one, Polars' threads cost more than reading."""
    lines = text.splitlines()
    is_plain = not any(mark in text for mark in UNUSUAL)
    if len(text) > SHORT_SERIES or not is_plain or len(lines) < 2:
        return pl.read_csv(text.encode(), schema=SERIES)
    columns = zip(*(line.split(",") for line in lines[1:]), strict=True)
    named = zip(SERIES.items(), columns, strict=True)
    values = {name: list(map(READ_AS[kind], column)) for (name, kind), column in named}
    return pl.DataFrame(values, schema=SERIES)


def _ending(events: list[dict[str, Any]], failure: str | None) -> dict[str, Any]:
    """Return status, reason and digest."""
    ends = [event for event in events if event["kind"] == "run_end"]
    errors = [event["message"] for event in events if event["kind"] == "error"]
    digest = ends[-1].get("digest") if ends else None
    if failure or errors or not ends:
        text = failure or "; ".join(errors)
        why = quoted(text) if text else reason("worker_silent")
        return {"status": "failed", "reason": why, "digest": digest}
    status = ends[-1]["status"]
    stopped = None if status == "complete" else reason("stopped")
    return {"status": status, "reason": stopped, "digest": digest}


def _verdict(outcome: Mapping[str, Any], findings: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the outcome's own verdict, with findings of preflight about machine or bindings."""
    level = {"complete": "valid", "partial": "warning", "failed": "invalid"}[outcome["status"]]
    own = [outcome["reason"]] if outcome["reason"] else []
    restless = unsettled(outcome["windows"])
    steady = verdict("warning" if restless else "valid", *restless)
    return worst([verdict(level, *own), steady, *findings])
