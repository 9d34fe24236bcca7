"""Only importer of the compiled modules: converts JSON to Python and their errors to Tameshi's."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tameshi.core.errors import RunFailed, StudyError
from tameshi.core.unusable import unusable_module

try:
    from tameshi import _tameshi
except ImportError as error:
    raise unusable_module(error) from None

if TYPE_CHECKING:
    from tameshi.core.spec_types import Plan, RunSpec, Time

Rates = Mapping[tuple[tuple[str, str], ...], Sequence[float]]
Profiles = Mapping[str, Sequence[tuple[str, str, str]]]
"""Profiles by kind (`devices`, `arrays`, `hosts` and so on): name, file, text of each."""


@dataclass(frozen=True)
class Target:
    """Open storage of a measured run: descriptor, and bounds of its payload in bytes."""

    name: str
    fd: int
    data_offset: int
    data_bytes: int
    direct: bool
    buffered_fd: int | None = None
    """Buffered descriptor of the same storage, if `fd` is direct and both are needed."""


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
            name, file, text, request, {kind: list(values) for kind, values in profiles.items()}
        )
    return Plan.model_validate_json(planned)


def plan_each(
    name: str,
    file: str,
    text: str,
    take: Callable[[int, str], None],
    *,
    world: str,
    quick: bool,
    exact: bool,
    profiles: Profiles,
) -> Plan:
    """Plan a study as `plan` does, in constant memory, with the limit of packed records.

    `take` gets number and JSON of each repetition of a run, cell by cell. Returns the plan without
    its runs; after an error, no run counts.
    """
    from tameshi.core.spec_types import Plan

    request = json.dumps({"world": world, "quick": quick, "exact": exact, "packed": True})
    with _translated():
        planned = _tameshi.plan_each(
            *(name, file, text, request),
            {kind: list(values) for kind, values in profiles.items()},
            take,
        )
    return Plan.model_validate_json(planned)


def device_profile(name: str, file: str, text: str) -> dict[str, Any]:
    """Check a device profile; raise `StudyError`."""
    with _translated():
        return dict(json.loads(_tameshi.device_profile(name, file, text)))


def array_profile(name: str, profiles: Profiles) -> dict[str, Any]:
    """Check the array profile of this name; raise `StudyError`.

    `profile`: its values with their sources; `capacity_bytes`, `drives`; `drive` and `device`:
    profile name and values of its drives.
    """
    with _translated():
        answer = _tameshi.array_profile(
            name, {kind: list(entries) for kind, entries in profiles.items()}
        )
    return dict(json.loads(answer))


def metrics() -> list[dict[str, str]]:
    """Return the metric registry: name, unit, kind, better, en, ja of each."""
    return list(json.loads(_tameshi.metrics()))


def latencies(log: str, windows: Mapping[int, tuple[int, int]]) -> dict[str, dict[str, Any]]:
    """Return latency statistics (ns) of each tag of an interval log's text.

    `windows` names the first and last counted round of each phase in rounds: together they are its
    part `steady`.
    """
    with _translated():
        return dict(json.loads(_tameshi.latencies(log, dict(windows))))


def histogram_intervals(log: str) -> list[dict[str, Any]]:
    """Return each histogram of an interval log's text: tag, begin_ns, length_ns, counts.

    `counts` are pairs of a bucket's least value (ns) and its operations.
    """
    with _translated():
        return list(json.loads(_tameshi.histogram_intervals(log)))


def verify(journal: Path, target: Target) -> dict[str, Any]:
    """Compare a storage with a journal: `written`, `right`, `findings`."""
    with _translated():
        return dict(json.loads(_tameshi.verify(str(journal), _as_tuple(target))))


def schema(form: str) -> dict[str, Any]:
    """Return the JSON schema of `study`, a profile (`device_profile` and so on), `run_spec` or
    `plan`."""
    with _translated():
        return dict(json.loads(_tameshi.schema(form)))


def nanoseconds(time: Time | str) -> int:
    """Parse a time such as `250 ms` into nanoseconds."""
    with _translated():
        return int(_tameshi.nanoseconds(time if isinstance(time, str) else time.root))


def size_bytes(size: str) -> int:
    """Parse a size such as `256 MiB` into bytes."""
    with _translated():
        return int(_tameshi.size_bytes(size))


def served_storage(
    file: str, text: str, profiles: Profiles, *, most_bytes: int, **wanted: str | int | None
) -> dict[str, Any]:
    """Resolve a storage of a file's text as a drive to serve; raise `StudyError`.

    `wanted`: its `name` and `size_bytes`, if not those of the file. Returns `storage` with `name`,
    `node`, `size_bytes` and `capacity_bytes`; the number of `drives`; `is_volatile`.
    """
    request = {"most_bytes": most_bytes, **wanted}
    with _translated():
        answer = _tameshi.served_storage(
            file, text, json.dumps(request), {kind: list(of) for kind, of in profiles.items()}
        )
    return dict(json.loads(answer))


def serve_drive(spec: str, control_fd: int) -> None:
    """Serve a drive in this thread until its mount or its owner is gone."""
    with _translated():
        _tameshi.serve_drive(spec, control_fd)


def check_store(directory: str, size_bytes: int) -> None:
    """Raise `RunFailed` unless a directory can hold the data of a drive of this size."""
    with _translated():
        _tameshi.check_store(directory, size_bytes)


def path_latency(fd: int, reads: int) -> int:
    """Return the median time of a read of 4 KiB at the start of an open device, in ns."""
    with _translated():
        return int(_tameshi.path_latency(fd, reads))


def nbd_latency(address: str, reads: int) -> int:
    """Return the median time of a read of 4 KiB at the start of a drive served by NBD, in ns."""
    with _translated():
        return int(_tameshi.nbd_latency(address, reads))


def lone_link(file: str, text: str, name: str, profiles: Profiles) -> tuple[int, int]:
    """Return round trip (ns) and rate (bytes per second) of a link; raise `StudyError`.

    `name`: a link that the file's text defines, or a link profile.
    """
    with _translated():
        texts = {kind: list(values) for kind, values in profiles.items()}
        round_trip_ns, rate_bytes = _tameshi.lone_link(file, text, name, texts)
    return int(round_trip_ns), int(rate_bytes)


def forward_packets(spec: str, control_fd: int) -> None:
    """Forward packets between hosts in this thread until its owner is gone."""
    with _translated():
        _tameshi.forward_packets(spec, control_fd)


def link_round_trip(
    networks: tuple[int, int], address: str, messages: int, patience_ns: int
) -> int:
    """Return the median round trip of a short message from one network to another, in ns.

    `networks`: descriptors of the namespaces; `address` is one of the second.
    """
    with _translated():
        return int(_tameshi.link_round_trip(networks, address, messages, patience_ns))


def link_rate(
    networks: tuple[int, int], address: str, load: tuple[int, int], window_ns: int, patience_ns: int
) -> int:
    """Return the bytes per second that arrive under a load a fifth above a rate.

    `load`: the rate in bytes per second, and the bytes of a datagram.
    """
    with _translated():
        return int(_tameshi.link_rate(networks, address, load, window_ns, patience_ns))


def idle_latencies(node: Mapping[str, Any]) -> dict[str, int]:
    """Return the latencies in ns of a read, a write and a flush of an idle drive or stack."""
    with _translated():
        times = _tameshi.idle_latencies(json.dumps(node))
    return dict(zip(("read", "write", "flush"), times, strict=True))


def core_hash() -> str:
    """Return the hash of the code that decides a simulated result, without comments and tests."""
    return _tameshi.core_hash()


def to_json(spec: RunSpec | Plan) -> str:
    """Return the spec as the core reads it."""
    return spec.model_dump_json(exclude_unset=True, by_alias=True)


BACKENDS: Sequence[str] = _tameshi.backends()
"""I/O backends of a measured run."""


class Execution:
    """Run in the core: `run` blocks its thread; other threads watch or stop it."""

    def __init__(self, spec: RunSpec | str, folder: Path) -> None:
        """Take a spec, or its JSON from `to_json`."""
        with _translated():
            text = spec if isinstance(spec, str) else to_json(spec)
            self._inner = _tameshi.Execution(text, str(folder))

    def lay_out(self, target: Target, seed: int) -> bool:
        """Write the target's whole payload once, so that reads meet no hole; return False if
        stopped."""
        with _translated():
            return bool(self._inner.lay_out(_as_tuple(target), seed))

    def run(
        self, targets: Sequence[Target], t0_ns: int, backend: str, slow: float = 1
    ) -> dict[str, Any]:
        """Run all phases from `t0_ns` of slowed time on the monotonic clock; return how the run
        ended."""
        with _translated():
            tuples = [_as_tuple(target) for target in targets]
            return dict(json.loads(self._inner.run(tuples, t0_ns, slow, backend)))

    def stop(self) -> None:
        """Request an early end with a usable partial result."""
        self._inner.stop()

    def progress(self) -> dict[str, Any]:
        """Return the progress: elapsed_ns, phase, rates of the last interval, bytes_written,
        streams."""
        return dict(json.loads(self._inner.progress()))


def _as_tuple(target: Target) -> tuple[str, int, int, int, bool, int | None]:
    bounds = (target.data_offset, target.data_bytes)
    return (target.name, target.fd, *bounds, target.direct, target.buffered_fd)


def database_target(address: Mapping[str, Any]) -> dict[str, Any]:
    """Return a database's address (`servers.shape.Address.as_json`) as the driver reads it."""
    if address["product"] == "sqlite":
        return {"sqlite": {"file": address["file"], "pragmas": address.get("pragmas", [])}}
    keys = ("socket", "host", "port", "user", "password", "database", "tls")
    return {address["product"]: {key: address[key] for key in keys if key in address}}


@contextmanager
def _driving() -> Iterator[None]:
    """Convert errors of the database driver to `RunFailed`."""
    try:
        yield
    except _tameshi.OltpError as error:
        raise RunFailed(str(error)) from None


class Oltp:
    """Program on a database, by the driver's own spec; a failure is a `RunFailed`."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        with _driving():
            self._inner = _tameshi.Oltp(json.dumps(spec))

    def load(self) -> int:
        """Make the tables and load the data set; return the number of rows."""
        with _driving():
            return int(self._inner.load())

    def tables(self) -> list[str]:
        """Return the names of the tables that `load` makes."""
        return list(self._inner.tables())

    def loaded(self) -> int:
        """Return the rows loaded so far."""
        return int(self._inner.loaded())

    def execute(self, folder: Path, t0_ns: int) -> dict[str, Any]:
        """Run all phases from `t0_ns` of slowed time on the monotonic clock and record them."""
        with _driving():
            return dict(json.loads(self._inner.execute(str(folder), t0_ns)))

    def check(self, *, fresh: bool) -> dict[str, Any]:
        """Check conditions of consistency and the ledger; `fresh`: nothing ran since loading."""
        with _driving():
            return dict(json.loads(self._inner.check(fresh)))

    def fail_power(self) -> None:
        """Ignore answers from now on; close all connections and open none."""
        self._inner.fail_power()

    def restore_power(self) -> None:
        """Let clients connect again."""
        self._inner.restore_power()

    def stop(self) -> None:
        """Request an early end with a usable partial result."""
        self._inner.stop()

    def progress(self) -> dict[str, int]:
        """Return the progress, as `Execution` does."""
        return dict(json.loads(self._inner.progress()))


def check_pages(path: Path) -> tuple[int, int, list[range]]:
    """Return the pages of an InnoDB file, those that do not fit their checksum, and pages that are
    left out: the doublewrite buffer."""
    with _driving():
        pages, broken, left_out = _tameshi.check_pages(path)
    return int(pages), int(broken), [range(*pages) for pages in left_out]


def query(target: Mapping[str, Any], sql: str) -> list[list[str | None]]:
    """Return the rows of a query, each value as text."""
    with _driving():
        return list(json.loads(_tameshi.query(json.dumps(target), sql)))
