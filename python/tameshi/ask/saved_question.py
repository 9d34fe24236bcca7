"""Question of a results folder, saved there so that no other question reuses the folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tameshi.ask.question import Question
from tameshi.core.errors import BadInput
from tameshi.core.units import format_exact_bytes
from tameshi.record import store
from tameshi.workflow import study_folder

FILE = "question.json"
VARIATIONS = ("varied",)
"""Fields that vary the answer and are not part of the question."""
UNSET = "unset"


def _plain(value: Any) -> str:
    if value is None:
        return UNSET
    return f"{value:.15g}" if isinstance(value, int | float) else str(value)


def _time(value: Any) -> str:
    return UNSET if value is None else f"{value / 1e9:.15g} s"


def _pools(value: Any) -> str:
    return "..".join(format_exact_bytes(pool) for pool in value)


def _listed(value: Any) -> str:
    return ",".join(format_exact_bytes(pool) for pool in value or ()) or "a range"


def _names(value: Any) -> str:
    return ",".join(storage["name"] for storage in value)


def _amounts(value: Any) -> str:
    amounts = {name: amount for table in value.values() for name, amount in table.items()}
    return " ".join(f"{name}={amount:g}" for name, amount in amounts.items()) or "none"


OPTIONS: Mapping[str, tuple[str, Callable[[Any], str]]] = {
    "database_bytes": ("--database-size", format_exact_bytes),
    "pools": ("--buffer-pool", _pools),
    "listed_pools": ("--buffer-pool", _listed),
    "storages": ("--storage", _names),
    "target_qps": ("--target-qps", _plain),
    "target_p99_ns": ("--target-p99", _time),
    "workload": ("--workload", _plain),
    "clients": ("--clients", _plain),
    "engine": ("--engine", _plain),
    "version": ("--engine-version", _plain),
    "host": ("--host", _plain),
    "redo_bytes": ("--redo-log", format_exact_bytes),
    "row_bytes": ("--row-size", format_exact_bytes),
    "start": ("--start", _plain),
    "time_ns": ("--time", _time),
    "ramp_ns": ("--ramp", _time),
    "scale": ("--scale", _plain),
    "repetitions": ("--repetitions", _plain),
    "costs": ("--price and --power", _amounts),
}
"""Options of the question's fields, and formatting of their values."""


def document(question: Question) -> dict[str, Any]:
    """Return the question as saved."""
    fields = json.loads(json.dumps(asdict(question)))
    return {key: value for key, value in fields.items() if key not in VARIATIONS}


def save(folder: Path, question: Question) -> None:
    """Save the question of a folder."""
    store.write_json(folder / FILE, document(question))


def refuse_another(folder: Path, question: Question) -> None:
    """Raise `BadInput` if a folder holds the results of another question, or of a study."""
    if not (folder / study_folder.SUMMARY).exists():
        return
    try:
        held = json.loads((folder / FILE).read_bytes())
    except FileNotFoundError:
        raise _refused(folder, "a question without a record, or a study") from None
    differences = list(_differences(held, document(question)))
    if differences:
        raise _refused(folder, "; ".join(differences))


def _differences(held: Mapping[str, Any], asked: Mapping[str, Any]) -> Iterator[str]:
    """Yield the options in which a saved question differs from the new one."""
    for key, (option, said) in OPTIONS.items():
        # Folders of earlier versions have no list of pools.
        held_value = held.get(key, []) if key == "listed_pools" else held[key]
        if held_value == asked[key]:
            continue
        before, now = said(held_value), said(asked[key])
        yield (
            f"{option} {before}, not {now}"
            if before != now
            else f"{option} {now} with other contents"
        )


def _refused(folder: Path, found: str) -> BadInput:
    return BadInput(
        "this folder holds the answer to another question",
        where=str(folder),
        found=found,
        accepted=["the same question, which resumes", "a folder of its own, with --out"],
        hint="--fresh removes what the folder holds.",
    )
