"""Question as a study file: data set, storages and pools, at a capacity scale."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor
from pathlib import Path
from typing import Any

from tameshi.analysis.database_facts import (
    OLTP_ROW_BYTES,
    PAGE_BYTES,
    ROOM_IN_PAGE,
    ROW_EXTRA_BYTES,
    WAREHOUSE_BYTES,
)
from tameshi.ask.question import ARRAYS, GIB, Question, Storage, Varied
from tameshi.ask.space import Space, space_of
from tameshi.core import compiled
from tameshi.core.errors import BadInput, RunFailed
from tameshi.core.toml_text import inline
from tameshi.core.units import format_exact_bytes
from tameshi.study import least
from tameshi.study.file import StudyFile, profiles

NAME = "asked"
SENSITIVITY = "sensitivity"
OLTP_TABLES, UPDATE_TABLES = 8, 10
REDO_BYTES = {"tpcc": 165, "oltp": 120, "key_update": 400}
"""Redo bytes per mean statement."""
GETS = {"tpcc": 5.5, "oltp": 9.0, "key_update": 2.0}
"""Page gets per mean statement, which determine the simulation's run time."""
LOG_SHARE = 0.75
SHORTEST_RAMP_NS, LONGEST_RAMP_NS = 5_000_000_000, 60_000_000_000
INTERVALS = 30
MOST_SCALE, LEAST_DATA, LEAST_POOL, LEAST_LOG = 64, GIB, 64 << 20, 32 << 20
WAREHOUSES_A_CLIENT = 3
"""Warehouses per client: with fewer, clients wait for each other's rows more than at full size."""
LEAST_TPCC = 100 * 10**6
"""Least data set of TPC-C: about one warehouse."""
TOLD_FROM = 0.05
"""Relative difference from the requested data set that is reported."""
LIMITED = "99 % of every kind of transaction"


@dataclass(frozen=True)
class Written:
    """Study with its device profiles: name and text of each."""

    study: StudyFile
    devices: Sequence[tuple[str, str]]


def scale_of(question: Question) -> int:
    """Return the divisor of all sizes: as requested, or the largest with little effect on
    results."""
    if question.scale:
        return question.scale
    scale = 1
    while scale < MOST_SCALE and _large_enough(question, scale * 2):
        scale *= 2
    return scale


def refuse_too_small(question: Question) -> None:
    """Raise `BadInput` if a scaled value falls below the server's minimum."""
    scale = scale_of(question)
    logs = [question.redo_bytes, *map(int, _least(question, "redo_log"))]
    sizes = [
        ("--buffer-pool", "the server's minimum buffer pool is", question.pools[0], least.POOL),
        ("--redo-log", "the server's minimum redo log is", logs[0], least.LOG),
        ("--vary redo_log", "the server's minimum redo log is", min(logs), least.LOG),
    ]
    if question.workload == "tpcc":
        warehouse = "TPC-C has at least one warehouse of about"
        sizes.append(("--database-size", warehouse, question.database_bytes, LEAST_TPCC))
    for option, sentence, size, lowest in sizes:
        if size // scale >= lowest:
            continue
        found, accepted = (
            format_exact_bytes(size),
            [f"{format_exact_bytes(lowest * scale)} or more"],
        )
        if scale > 1:
            found += f", simulated at 1/{scale} of it"
        if scale > 1 and size >= lowest:
            accepted.append(f"--scale {size // lowest} or less")
        message = f"{sentence} {format_exact_bytes(lowest)}"
        raise BadInput(message, where=option, found=found, accepted=accepted)


def simulated_bytes(question: Question) -> int:
    """Return the simulated data set at full size: TPC-C has whole warehouses."""
    if question.workload != "tpcc":
        return question.database_bytes
    scale = scale_of(question)
    return int(_rows(question, 1.0, scale)["warehouses"]) * WAREHOUSE_BYTES * scale


def rounded_bytes(question: Question) -> int | None:
    """Return the simulated data set, if it differs much from the requested one."""
    simulated, asked = simulated_bytes(question), question.database_bytes
    return simulated if abs(simulated - asked) > TOLD_FROM * asked else None


def _large_enough(question: Question, scale: int) -> bool:
    flash = [_kind(device)[1] for device, _ in drives_of(question)]
    blocks = [table["nand"]["pages_per_block"]["value"] for table in flash if "nand" in table]
    warehouses = question.database_bytes // scale // WAREHOUSE_BYTES
    return (
        question.database_bytes // scale >= LEAST_DATA
        and question.pools[0] // scale >= LEAST_POOL
        and question.redo_bytes // scale >= LEAST_LOG
        and all(scale <= pages for pages in blocks)
        and (question.workload != "tpcc" or warehouses >= WAREHOUSES_A_CLIENT * question.clients)
    )


def ramp_of(question: Question, scale: int) -> int:
    """Return the ramp in ns: one pass through the log at the target rate, within limits."""
    if question.ramp_ns is not None:
        return question.ramp_ns
    if question.start == "cold":
        return 0
    rate = question.target_qps * REDO_BYTES[question.workload]
    needed = LOG_SHARE * question.redo_bytes / scale / rate * 1e9
    return int(min(max(needed, SHORTEST_RAMP_NS), LONGEST_RAMP_NS))


def lasts_of(question: Question, scale: int) -> int:
    """Return a run's virtual time in ns; from a cold start, it scales with the data to be read."""
    if question.start == "cold":
        return max(question.time_ns // scale, 1)
    return ramp_of(question, scale) + question.time_ns


def space_of_question(question: Question) -> Space:
    """Return the space of the question's configurations."""
    scale = scale_of(question)
    return space_of(question, scale, lasts_of(question, scale))


def space_at(question: Question, varied: Varied) -> tuple[str, Space]:
    """Return an uncertain input's greatest value as a level, and the space that it needs."""
    return input_label(varied, varied.high), _space_with(question, varied.name, varied.high)


def _space_with(question: Question, name: str, value: float) -> Space:
    rows, log = (value if name == key else 0.0 for key in ("row_size", "redo_log"))
    scale = scale_of(question)
    return space_of(question, scale, lasts_of(question, scale), max(rows, 1.0), log)


def page_gets(question: Question, scale: int) -> float:
    """Return the page gets of a run that just reaches the target."""
    seconds = lasts_of(question, scale) / 1e9
    return seconds * question.target_qps * GETS[question.workload]


def asked_study(
    question: Question, pools: Sequence[int], folder: Path, space: Space | None = None
) -> Written:
    """Return the study of all storages and these pools; `space` overrides the question's space."""
    scale = scale_of(question)
    axes = ["[axis.storage]"]
    axes += [f"{_key(s.name)} = {{ use.storage = {inline(s.name)} }}" for s in question.storages]
    axes += ["[axis.buffer_pool]"]
    axes += [f"{_key(format_exact_bytes(pool))} = {_pool(question, pool, scale)}" for pool in pools]
    title = f"{question.target_qps:,.0f} statements a second"
    limit = ""
    if question.target_p99_ns:
        limit = f", {LIMITED} within {question.target_p99_ns / 1e6:g} ms"
    rounded = rounded_bytes(question)
    instead = f" (simulated: {rounded / 1e9:.3g} GB, whole warehouses)" if rounded else ""
    asks = (
        f"Which storage and which buffer pool reach {title}{limit} on "
        f"{question.database_bytes / 1e9:g} GB of {question.workload}{instead}?"
    )
    lines = [f"title = {inline(title)}", f"question = {inline(asks)}", "", *axes, ""]
    return _written(question, NAME, lines, folder, space or space_of_question(question))


def sensitivity_study(question: Question, storage: str, pool: int, folder: Path) -> Written:
    """Return the study of one configuration, with each uncertain input at both bounds."""
    scale = scale_of(question)
    lines = [
        f"title = {inline(f'{storage} with {format_exact_bytes(pool)}: uncertain inputs')}",
        'question = "How does the answer depend on uncertain inputs?"',
        "",
        f"[use]\nstorage = {inline(storage)}",
        "[axis.input]",
    ]
    lines += [
        f"{_key(input_label(varied, value))} = {_input(question, storage, varied.name, value)}"
        for varied in question.varied
        for value in (varied.low, varied.high)
    ]
    engine = [f"buffer_pool = {_size(pool // scale)}"]
    space = space_of_question(question)
    return _written(question, SENSITIVITY, [*lines, ""], folder, space, engine)


def input_label(varied: Varied, value: float) -> str:
    """Return an input's value as the level of an axis."""
    return f"{varied.name} {value_label(varied.name, value)}"


def value_label(name: str, value: float) -> str:
    """Return an input's value for display."""
    if name == "redo_log":
        return format_exact_bytes(int(value))
    return f"× {value:g}" if name == "row_size" else f"{value:g}"


def answer_label(question: Question, name: str, value: float) -> str:
    """Return an input's value for an answer, with the simulated whole warehouses.

    Omits them within 5 % of the requested value.
    """
    label = value_label(name, value)
    if name != "row_size" or question.workload != "tpcc":
        return label
    scale = scale_of(question)
    count = int(_rows(question, value, scale)["warehouses"])
    asked = question.database_bytes * value / scale
    is_near = abs(count * WAREHOUSE_BYTES - asked) <= TOLD_FROM * asked
    return label if is_near else f"{label} (warehouses: {count})"


def _pool(question: Question, pool: int, scale: int) -> str:
    return inline({"engine": {question.engine: {"buffer_pool": f"{pool // scale} B"}}})


def _input(question: Question, storage: str, name: str, value: float) -> str:
    """Return an input's value as TOML, on a storage with space for it."""
    scale = scale_of(question)
    table = _overlay(question, name, value, scale)
    space = _space_with(question, name, value)
    if space.required > space_of_question(question).required:
        chosen = next(each for each in question.storages if each.name == storage)
        table["storage"] = {storage: {"size": f"{_storage_bytes(chosen, space, scale)} B"}}
    return inline(table)


def _overlay(question: Question, name: str, value: float, scale: int) -> dict[str, Any]:
    if name == "redo_log":
        return {"engine": {question.engine: {"redo_log": f"{int(value) // scale} B"}}}
    if name == "clients":
        return {"workload": {question.workload: {"clients": int(value)}}}
    return {"workload": {question.workload: _rows(question, value, scale)}}


def _rows(question: Question, factor: float, scale: int) -> dict[str, Any]:
    """Return scaled rows: larger, or more of them if the row size is given."""
    size = question.database_bytes / scale
    if question.workload == "tpcc":
        return {"warehouses": max(round(size * factor / WAREHOUSE_BYTES), 1)}
    if question.workload == "oltp":
        return {"rows": max(round(size * factor / OLTP_TABLES / OLTP_ROW_BYTES), 1)}
    rows = size * max(ROOM_IN_PAGE // (question.row_bytes + ROW_EXTRA_BYTES), 1) / PAGE_BYTES
    count = max(floor(rows / UPDATE_TABLES), 1) * UPDATE_TABLES
    return {"rows": count, "row_size": f"{round(question.row_bytes * factor)} B"}


def _written(
    question: Question,
    name: str,
    head: Sequence[str],
    folder: Path,
    space: Space,
    engine: Sequence[str] = (),
) -> Written:
    scale = scale_of(question)
    devices = dict(_scaled_disks(question, scale))
    lines = [*head]
    for storage in question.storages:
        lines += [f"[storage.{_key(storage.name)}]", *_storage(storage, space, scale), ""]
    lines += [f'[host]\nprofile = "{question.host}"', f"[engine.{question.engine}]"]
    if question.version:
        lines += [f"version = {inline(question.version)}"]
    lines += ['flush_method = "O_DIRECT"', f"redo_log = {_size(question.redo_bytes // scale)}"]
    lines += [*engine, "", f"[workload.{question.workload}]"]
    lines += [f"{key} = {inline(value)}" for key, value in _program(question, scale).items()]
    lasts, ramp = lasts_of(question, scale), ramp_of(question, scale)
    lines += ["", "[phase.run]", f'workload = ["{question.workload}"]']
    lines += [f'ramp = "{ramp} ns"'] if ramp else []
    lines += [f'until = {{ time = "{lasts} ns" }}', "", "[run]", f'start = "{question.start}"']
    interval = max((lasts - ramp) // INTERVALS, 1)
    lines += [f'interval = "{interval} ns"', f"repetitions = {question.repetitions}", "seed = 1"]
    text = "\n".join(lines) + "\n"
    path = folder / "study.toml"
    extra = {"devices": [(name, f"{name}.toml", text) for name, text in devices.items()]}
    return Written(StudyFile(name, path, text, extra), list(devices.items()))


def _least(question: Question, name: str) -> Iterator[float]:
    return (varied.low for varied in question.varied if varied.name == name)


def _program(question: Question, scale: int) -> dict[str, Any]:
    rows = _rows(question, 1.0, scale)
    if question.workload == "tpcc":
        return {**rows, "clients": question.clients, "manner": "tpcc-mysql"}
    if question.workload == "oltp":
        sizes = {"tables": OLTP_TABLES, **rows, "clients": question.clients}
        return {"mix": "read_write", **sizes, "popularity": "uniform"}
    return {"tables": UPDATE_TABLES, **rows, "clients": question.clients}


def _storage(storage: Storage, space: Space, scale: int) -> Iterator[str]:
    """Return a storage's keys; flash takes the scale itself, disks have scaled profiles."""
    stack = storage.stack
    yield f"size = {_size(_storage_bytes(storage, space, scale))}"
    if _scales(stack, scale):
        yield f"scale = {scale}"
    for key, value in _renamed(stack, scale).items():
        yield f"{key} = {inline(value)}"


def _scales(stack: Mapping[str, Any], scale: int) -> bool:
    # A storage without a drive is refused by the study.
    models = [_kind(device)[0] for device, _ in drives(stack)]
    return models[:1] == ["flash"] and scale > 1


def _storage_bytes(storage: Storage, space: Space, scale: int) -> int:
    """Return the size of a storage for this space; a stack with its own scale has its full size."""
    most = space.upper_bound if storage.holds is None else min(space.upper_bound, storage.holds)
    size = most if _scales(storage.stack, scale) else most // scale
    return max(size >> 20 << 20, 64 << 20)


def _renamed(stack: Mapping[str, Any], scale: int) -> dict[str, Any]:
    """Return the stack with scaled disk profiles and caches."""
    scaled: dict[str, Any] = {}
    for key, value in stack.items():
        if isinstance(value, Mapping):
            scaled[key] = _renamed(value, scale)
        elif key == "memory":
            scaled[key] = _part(value, scale)
        elif key == "device" and scale > 1 and _kind(value)[0] == "hdd":
            scaled[key] = _scaled_name(value, scale)
        else:
            scaled[key] = value
    return scaled


def _scaled_name(device: str, scale: int) -> str:
    return f"{device}-1-in-{scale}"


def _scaled_disks(question: Question, scale: int) -> Iterator[tuple[str, str]]:
    """Return profiles of disks with 1/n of the cylinders: the same seeks over 1/n of the data."""
    if scale == 1:
        return
    for device, _ in drives_of(question):
        kind, table = _kind(device)
        if kind != "hdd":
            continue
        said = f"at 1/{scale} of the capacity"
        capacity = compiled.size_bytes(table["capacity"]["value"]) // scale
        small = {
            **table,
            "capacity": {**table["capacity"], "value": f"{capacity} B"},
            "cylinders": {**table["cylinders"], "value": table["cylinders"]["value"] // scale},
        }
        text = f"description = {inline(f'{device} {said}')}\n[device]\nhdd = {inline(small)}\n"
        yield _scaled_name(device, scale), text


def drives_of(question: Question) -> list[tuple[str, int]]:
    """Return the device profiles of all storages, with their counts."""
    return [drive for storage in question.storages for drive in drives(storage.stack)]


def drives(stack: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return the device profiles of a storage, with their counts."""
    if "device" in stack:
        return [(str(stack["device"]), 1)]
    for key, value in stack.items():
        if not isinstance(value, Mapping):
            continue
        times = _members(value) if key in ARRAYS else 2 if key == "replica" else 1
        if "device" in value:
            return [(str(value["device"]), times)]
        if isinstance(value.get("of"), Mapping):
            return [(device, count * times) for device, count in drives(value["of"])]
    return []


def _members(stack: Mapping[str, Any]) -> int:
    # The plan refuses values that are not numbers, with their place; also below.
    members = stack.get("members", 1)
    return members if isinstance(members, int) else 1


def _part(size: Any, scale: int) -> Any:
    """Return a size at the scale; any other value unchanged."""
    try:
        return f"{compiled.size_bytes(str(size)) // scale} B"
    except RunFailed:
        return size


def _kind(device: str) -> tuple[str, Mapping[str, Any]]:
    """Return model and table of a device profile; empty if it does not exist."""
    for name, _, text in profiles("devices"):
        if name == device:
            ((model, table),) = tomllib.loads(text)["device"].items()
            return model, table
    return "", {}


def watts_of(stack: Mapping[str, Any]) -> float | None:
    """Return a storage's maximum active power, from its profiles; None if one lacks it."""
    total = 0.0
    for device, count in drives(stack):
        power = _kind(device)[1].get("power", {})
        most = power.get("active_mw") or power.get("limit_mw")
        if most is None:
            return None
        total += count * most["value"] / 1000
    return total or None


def _key(name: str) -> str:
    return inline(name)


def _size(size: int) -> str:
    return f'"{size} B"'
