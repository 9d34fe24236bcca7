"""The only importer of the compiled modules: JSON becomes Python here, its errors become ours."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tameshi import _tameshi
from tameshi.core.errors import RunFailed, StudyError

if TYPE_CHECKING:
    from tameshi.core.spec_types import Plan, RunSpec, Time

Rates = Mapping[tuple[tuple[str, str], ...], Sequence[float]]
Profiles = Mapping[str, Sequence[tuple[str, str, str]]]
"""Profiles by kind (`devices`, `arrays`, `hosts` and so on): name, file, text of each."""


@dataclass(frozen=True)
class Target:
    """An open storage of a measured run: its descriptor and where its payload lies, in bytes."""

    name: str
    fd: int
    data_offset: int
    data_bytes: int
    direct: bool
    buffered_fd: int | None = None
    """The same storage through the page cache, where `fd` goes past it and both are needed."""


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except _tameshi.StudyError as error:
        text, fields = error.args
        raise StudyError(text, json.loads(fields)) from None
    except _tameshi.CoreError as error:
        raise RunFailed(str(error)) from None


def plan(
    name: str,
    file: str,
    text: str,
    *,
    world: str,
    quick: bool,
    profiles: Profiles,
    rates: Rates | None = None,
    exact: bool = False,
    bound_events: Sequence[str] = (),
    cells: Sequence[Mapping[str, str]] | None = None,
) -> Plan:
    """Plan a study's text for one world; raises `StudyError` at the place of an error.

    `rates`: rates that a search has chosen so far (1/s), by the levels of a cell. `bound_events`:
    events that commands of the user make happen. `cells`: plan only cells with all levels of one.
    """
    from tameshi.core.spec_types import Plan

    chosen = [
        {"cell": dict(cell), "rates": [f"{rate:.3f} /s" for rate in of]}
        for cell, of in (rates or {}).items()
    ]
    wanted = {"cells": [dict(cell) for cell in cells]} if cells is not None else {}
    request = json.dumps(
        {
            **{"world": world, "quick": quick, "rates": chosen, "exact": exact},
            **{"bound_events": list(bound_events), **wanted},
        }
    )
    with _translated():
        planned = _tameshi.plan(
            name, file, text, request, {kind: list(of) for kind, of in profiles.items()}
        )
    return Plan.model_validate_json(planned)


def device_profile(name: str, file: str, text: str) -> dict[str, Any]:
    """A device profile, checked; raises `StudyError`."""
    with _translated():
        return dict(json.loads(_tameshi.device_profile(name, file, text)))


def array_profile(name: str, profiles: Profiles) -> dict[str, Any]:
    """The array profile of that name, checked; raises `StudyError`.

    `profile`: its values with their sources; `capacity_bytes`, `drives`; `drive` and `device`: the
    drive that it is made of, and that one's values.
    """
    with _translated():
        told = _tameshi.array_profile(name, {kind: list(of) for kind, of in profiles.items()})
    return dict(json.loads(told))


def metrics() -> list[dict[str, str]]:
    """The metric registry: name, unit, kind, better, en, ja of each."""
    return list(json.loads(_tameshi.metrics()))


def latencies(log: str, windows: Mapping[int, tuple[int, int]]) -> dict[str, dict[str, Any]]:
    """Latency statistics (ns) of each tag of an interval log's text.

    `windows` names, of each phase in rounds, the first and last round that count: together they are
    its part `steady`.
    """
    with _translated():
        return dict(json.loads(_tameshi.latencies(log, dict(windows))))


def histogram_intervals(log: str) -> list[dict[str, Any]]:
    """Each histogram of an interval log's text: tag, begin_ns, length_ns, counts.

    `counts` are pairs of the least value (ns) that a bucket holds and the operations in it.
    """
    with _translated():
        return list(json.loads(_tameshi.histogram_intervals(log)))


def verify(journal: Path, target: Target) -> dict[str, Any]:
    """What a storage holds of what a journal says: `written`, `right`, `findings`."""
    with _translated():
        return dict(json.loads(_tameshi.verify(str(journal), _as_tuple(target))))


def schema(form: str) -> dict[str, Any]:
    """The JSON schema of `study`, a profile (`device_profile` and so on), `run_spec` or `plan`."""
    with _translated():
        return dict(json.loads(_tameshi.schema(form)))


def nanoseconds(time: Time | str) -> int:
    """A time such as `250 ms` in nanoseconds."""
    with _translated():
        return int(_tameshi.nanoseconds(time if isinstance(time, str) else time.root))


def size_bytes(size: str) -> int:
    """A size such as `256 MiB` in bytes."""
    with _translated():
        return int(_tameshi.size_bytes(size))


def core_hash() -> str:
    """Hash of the code that decides a simulated result, without comments and tests."""
    return _tameshi.core_hash()


def to_json(spec: RunSpec | Plan) -> str:
    """The spec as the core reads it."""
    return spec.model_dump_json(exclude_unset=True, by_alias=True)


BACKENDS: Sequence[str] = _tameshi.backends()
"""What can carry the requests of a measured run."""


class Execution:
    """One run in the core: `run` blocks one thread while others watch or stop it."""

    def __init__(self, spec: RunSpec | str, folder: Path) -> None:
        """Of a spec, or of the JSON that `to_json` made of it."""
        with _translated():
            text = spec if isinstance(spec, str) else to_json(spec)
            self._inner = _tameshi.Execution(text, str(folder))

    def lay_out(self, target: Target, seed: int) -> bool:
        """Write the target's whole payload once, so that no read meets a hole; False if stopped."""
        with _translated():
            return bool(self._inner.lay_out(_as_tuple(target), seed))

    def run(self, targets: Sequence[Target], t0_ns: int, backend: str) -> dict[str, Any]:
        """Run all phases from `t0_ns` on the monotonic clock; returns how it ended."""
        with _translated():
            tuples = [_as_tuple(target) for target in targets]
            return dict(json.loads(self._inner.run(tuples, t0_ns, backend)))

    def stop(self) -> None:
        """Ask it to end soon with a usable partial result."""
        self._inner.stop()

    def progress(self) -> dict[str, Any]:
        """Where it is: elapsed_ns, phase, rates of the last interval, bytes_written, streams."""
        return dict(json.loads(self._inner.progress()))


def _as_tuple(target: Target) -> tuple[str, int, int, int, bool, int | None]:
    bounds = (target.data_offset, target.data_bytes)
    return (target.name, target.fd, *bounds, target.direct, target.buffered_fd)


def database_target(address: Mapping[str, Any]) -> dict[str, Any]:
    """A database's address (`servers.shape.Address.as_json`) as the driver reads it."""
    if address["product"] == "sqlite":
        return {"sqlite": {"file": address["file"], "pragmas": address.get("pragmas", [])}}
    keys = ("socket", "host", "port", "user", "password", "database")
    return {address["product"]: {key: address[key] for key in keys if key in address}}


@contextmanager
def _driving() -> Iterator[None]:
    """Turn what the database driver raises into `RunFailed`."""
    try:
        yield
    except _tameshi.OltpError as error:
        raise RunFailed(str(error)) from None


class Oltp:
    """A program on a database, by the driver's own spec; what fails is a `RunFailed`."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        with _driving():
            self._inner = _tameshi.Oltp(json.dumps(spec))

    def load(self) -> int:
        """Make the tables and load the data set; the number of rows."""
        with _driving():
            return int(self._inner.load())

    def tables(self) -> list[str]:
        """Names of the tables that `load` makes."""
        return list(self._inner.tables())

    def loaded(self) -> int:
        """Rows loaded so far."""
        return int(self._inner.loaded())

    def execute(self, folder: Path, t0_ns: int) -> dict[str, Any]:
        """Run all phases from `t0_ns` on the monotonic clock and record them in the folder."""
        with _driving():
            return dict(json.loads(self._inner.execute(str(folder), t0_ns)))

    def check(self, *, fresh: bool) -> dict[str, Any]:
        """Check conditions of consistency and the ledger; `fresh`: nothing ran since loading."""
        with _driving():
            return dict(json.loads(self._inner.check(fresh)))

    def fail_power(self) -> None:
        """Count what is answered from now on as never heard; connections are let go, none made."""
        self._inner.fail_power()

    def restore_power(self) -> None:
        """Have clients connect again."""
        self._inner.restore_power()

    def stop(self) -> None:
        """Ask the run to end soon with a usable partial result."""
        self._inner.stop()

    def progress(self) -> dict[str, int]:
        """Where it is, as that of `Execution`."""
        return dict(json.loads(self._inner.progress()))


def query(target: Mapping[str, Any], sql: str) -> list[list[str | None]]:
    """The rows of a query, each value as text."""
    with _driving():
        return list(json.loads(_tameshi.query(json.dumps(target), sql)))
