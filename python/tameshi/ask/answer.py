"""Answer from results: configurations that meet the target, and the cheapest of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tameshi.analysis.stats import programs
from tameshi.analysis.stats.estimates import of_phase
from tameshi.ask import pool_search
from tameshi.ask.pool_search import Tried
from tameshi.ask.question import (
    ENERGY,
    GIB,
    HOURS_A_YEAR,
    MEMORY,
    WATT_KILO,
    YEARS,
    Question,
)
from tameshi.ask.study_text import (
    answer_label,
    input_label,
    lasts_of,
    ramp_of,
    rounded_bytes,
    scale_of,
    simulated_bytes,
    watts_of,
)
from tameshi.core.errors import BadInput
from tameshi.core.reasons import Reason, reason
from tameshi.core.units import format_exact_bytes

ASKED_VERSION = 2
"""Version of asked.json: 1, the first; 2, reasons as data."""
QPS, P99 = "statement.rate", "transaction.latency.p99"
THREE_YEARS = 3.0


def watts(question: Question, storage: str, pool: int) -> float | None:
    """Return the power of a configuration in watts; None if unknown."""
    watts_by_name = question.costs.watts
    stack = next(s.stack for s in question.storages if s.name == storage)
    drawn = watts_by_name.get(storage)
    if drawn is None:
        drawn = watts_of(stack)
    if drawn is None:
        return None
    return drawn + watts_by_name.get(MEMORY, 0.0) * pool / GIB


def cost(question: Question, storage: str, pool: int) -> float:
    """Return the cost of a configuration; without prices, its buffer pool in bytes.

    Without prices, storages with the same pool rank in the order of the question.
    """
    price = question.costs.price
    if not question.costs.priced:
        names = [each.name for each in question.storages]
        return pool + names.index(storage)
    total = price.get(storage, 0.0) + price.get(MEMORY, 0.0) * pool / GIB
    if ENERGY in price:
        hours = price.get(YEARS, THREE_YEARS) * HOURS_A_YEAR
        drawn = watts(question, storage, pool)
        if drawn is None:
            raise _unpowered(storage)
        total += drawn / WATT_KILO * hours * price[ENERGY]
    return total


def refuse_unknown_power(question: Question) -> None:
    """Raise `BadInput` if energy has a price and the power of a storage is unknown."""
    if ENERGY not in question.costs.price:
        return
    for storage in question.storages:
        if watts(question, storage.name, 0) is None:
            raise _unpowered(storage.name)


def _unpowered(storage: str) -> BadInput:
    return BadInput(
        "energy has a price, so the power of every storage must be known",
        where="--power",
        found=f"{storage} has none, and its profiles don't state its maximum power",
        accepted=[f"--power {storage}=WATTS"],
    )


def figure(cell: Mapping[str, Any], subject: str, metric: str) -> dict[str, Any] | None:
    """Return an estimate of a cell, with both intervals; None if it is absent."""
    for estimate in of_phase(cell):
        if (estimate["subject"], estimate["metric"]) == (subject, metric):
            keys = ("value", "sampling", "model")
            return {key: estimate[key] for key in keys}
    return None


def slowest(cell: Mapping[str, Any], word: str) -> str:
    """Return the transaction type with the greatest p99, which decides about a latency limit."""
    tails = {
        estimate["subject"]: estimate["value"]
        for estimate in of_phase(cell)
        if estimate["metric"] == P99 and estimate["subject"].startswith(f"{word}.")
    }
    return max(tails, key=lambda kind: tails[kind], default=word)


def configuration(question: Question, cell: Mapping[str, Any]) -> dict[str, Any]:
    """Return the results of a configuration; `meets` is null if it failed."""
    kind = slowest(cell, question.workload)
    qps = figure(cell, question.workload, QPS)
    p99 = figure(cell, kind, P99)
    shares = programs.time_shares(cell)
    limit = max(shares, key=lambda name: shares[name], default=None)
    return {
        "qps": qps,
        "p99": p99,
        "p99_of": kind,
        "hit_ratio": figure(cell, "server", "server.hit_ratio"),
        "limit": limit,
        "limit_share": shares[limit] if limit else None,
        "meets": _meets(question, qps, p99),
        "reasons": None if qps or cell["runs"]["partial"] else _why_not(cell),
    }


def _why_not(cell: Mapping[str, Any]) -> list[Reason]:
    return list(cell["verdict"]["reasons"]) or [reason("nothing_measured")]


def _meets(
    question: Question, qps: Mapping[str, Any] | None, p99: Mapping[str, Any] | None
) -> bool | None:
    if qps is None:
        return None
    if qps["value"] < question.target_qps:
        return False
    if question.target_p99_ns is None:
        return True
    return p99["value"] <= question.target_p99_ns if p99 else None


def configurations(
    question: Question, pools: Sequence[int], cells: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return every cell as a configuration with its cost, storages in the order of the question."""
    sizes = {format_exact_bytes(pool): pool for pool in pools}
    rows = []
    for storage in question.storages:
        for cell in cells:
            levels = cell["levels"]
            if levels["storage"] != storage.name or levels["buffer_pool"] not in sizes:
                continue
            pool = sizes[levels["buffer_pool"]]
            head = {
                "storage": storage.name,
                "buffer_pool": levels["buffer_pool"],
                "pool_bytes": pool,
                "watts": watts(question, storage.name, pool),
                "cost": cost(question, storage.name, pool) if question.costs.priced else None,
            }
            rows.append({**head, **configuration(question, cell)})
    return rows


def in_order(question: Question, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort configurations by storage as named, then by pool."""
    names = [storage.name for storage in question.storages]
    return sorted(rows, key=lambda each: (names.index(each["storage"]), each["pool_bytes"]))


def best_of(question: Question, rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the cheapest configuration that meets the target."""
    meeting = [each for each in rows if each["meets"]]
    return min(
        meeting,
        key=lambda each: cost(question, each["storage"], each["pool_bytes"]),
        default=None,
    )


def tried(question: Question, rows: Sequence[Mapping[str, Any]]) -> list[Tried]:
    """Return finished configurations in the form of the pool search."""
    return [
        Tried(
            each["storage"],
            each["pool_bytes"],
            bool(each["meets"]),
            cost(question, each["storage"], each["pool_bytes"]),
            min(_reached(question, each)),
        )
        for each in rows
        if each["meets"] is not None
    ]


def _reached(question: Question, row: Mapping[str, Any]) -> tuple[float, float]:
    """Return the share of the target that a configuration reaches, in statements per second and
    p99."""
    rate = row["qps"]["value"] / question.target_qps
    if question.target_p99_ns is None or row["p99"] is None:
        return rate, math.inf
    return rate, question.target_p99_ns / row["p99"]["value"]


def falls(question: Question, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return larger pools that miss the target although a smaller one meets it."""
    return [
        {
            "storage": less.storage,
            "meets": format_exact_bytes(less.pool),
            "misses": format_exact_bytes(more.pool),
        }
        for less, more in pool_search.falls(tried(question, rows))
    ]


def nearest_of(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the fastest configuration, whether or not it meets the target."""
    ran = [each for each in rows if each["qps"]]
    return max(ran, key=lambda each: each["qps"]["value"], default=None)


def failed(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return configurations that could not be simulated, in the form of left-out ones."""
    return [
        {"storage": each["storage"], "level": each["buffer_pool"], "reasons": each["reasons"]}
        for each in rows
        if each["reasons"] is not None
    ]


def failed_inputs(storage: str, cells: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return values of uncertain inputs that could not be simulated."""
    return [
        {"storage": storage, "level": cell["levels"]["input"], "reasons": _why_not(cell)}
        for cell in cells
        if cell["runs"]["failed"]
    ]


def sensitivity(question: Question, cells: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the effect of each uncertain input on the chosen configuration."""
    by_label = {cell["levels"]["input"]: configuration(question, cell) for cell in cells}
    rows = []
    for varied in question.varied:
        ends = {}
        for end, value in (("low", varied.low), ("high", varied.high)):
            result = by_label.get(input_label(varied, value))
            if result and result["qps"]:
                keys = ("qps", "p99", "p99_of", "meets")
                ends[end] = {
                    "label": answer_label(question, varied.name, value),
                    **{key: result[key] for key in keys},
                }
        if len(ends) == len(("low", "high")):
            rows.append({"input": varied.name, **ends})
    return rows


def decides(question: Question, row: Mapping[str, Any] | None) -> str:
    """Return the part of the target that limits a configuration."""
    if row is None:
        return "qps"
    rate, tail = _reached(question, row)
    return "p99" if tail < rate else "qps"


def _swing(row: Mapping[str, Any], key: str) -> float:
    ends = [row[end][key] for end in ("low", "high")]
    return abs(float(ends[1]["value"]) - float(ends[0]["value"])) if all(ends) else 0.0


def document(
    question: Question,
    configurations: Sequence[Mapping[str, Any]],
    rows: Sequence[Mapping[str, Any]],
    left: Sequence[Mapping[str, Any]] = (),
    *,
    interrupted: bool = False,
) -> dict[str, Any]:
    """Return asked.json: question, findings, answer, and its sensitivity."""
    scale = scale_of(question)
    best, nearest = best_of(question, configurations), nearest_of(configurations)
    key = decides(question, best or nearest)
    return {
        "schema_version": ASKED_VERSION,
        "target": {"qps": question.target_qps, "p99_ns": question.target_p99_ns},
        "database_bytes": question.database_bytes,
        "simulated_bytes": simulated_bytes(question),
        "rounded": rounded_bytes(question) is not None,
        "workload": question.workload,
        "clients": question.clients,
        "engine": f"{question.engine} {question.version}" if question.version else question.engine,
        "host": question.host,
        "redo_log": format_exact_bytes(question.redo_bytes),
        "start": question.start,
        "scale": scale,
        "ramp_ns": ramp_of(question, scale),
        "lasts_ns": lasts_of(question, scale),
        "costs": asdict(question.costs),
        "configurations": list(configurations),
        "best": best,
        "nearest": nearest,
        "falls": falls(question, configurations),
        "decides": key,
        "sensitivity": sorted(rows, key=lambda row: _swing(row, key), reverse=True),
        "left_out": list(left),
        "interrupted": interrupted,
    }
