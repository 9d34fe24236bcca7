"""Summary of a set of trials as plain data: cells, and each standby next to a server alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any, TypeVar

from tameshi.availability.folder import SetFolder
from tameshi.availability.trial_set import Trial, TrialSet
from tameshi.pairs import WAYS

Result = Mapping[str, Any]
Made = tuple[Trial, Result]
K = TypeVar("K")

VERSION = 1
"""Version of results.json."""


def summarise(asked: TrialSet, folder: SetFolder) -> dict[str, Any]:
    """Return the content of results.json: medians, least and most of the trials that have ended."""
    # The drives one after the other, the ways of each next to each other.
    trials = sorted(asked.trials(), key=lambda trial: asked.drives.index(trial.drive))
    read = [(trial, folder.read(trial)) for trial in trials]
    made = [(trial, result) for trial, result in read if result is not None]
    failures = [{**_named(t), "failure": folder.failure(t)} for t in trials if folder.failure(t)]
    services = [_service(way, drive, of) for (way, drive), of in _grouped(made, by_service)]
    return {
        "schema_version": VERSION,
        "name": asked.name,
        "settings": asked.settings(),
        "planned": len(trials),
        "made": len(made),
        "failures": failures,
        "services": services,
        "cells": [_cell(*key, of) for key, of in _grouped(made, by_cell)],
        "ratios": list(_ratios(services)),
    }


def by_service(trial: Trial) -> tuple[str, str]:
    """Return what the service before an event depends on."""
    return trial.way, trial.drive


def by_cell(trial: Trial) -> tuple[str, str, str]:
    """Return what the service after an event depends on."""
    return trial.way, trial.drive, trial.event


def _grouped(made: Iterable[Made], key: Callable[[Trial], K]) -> list[tuple[K, list[Result]]]:
    """Return the results of each key, in the order of the set."""
    groups: dict[K, list[Result]] = {}
    for trial, result in made:
        groups.setdefault(key(trial), []).append(result)
    return list(groups.items())


def _named(trial: Trial) -> dict[str, Any]:
    return {"way": trial.way, "event": trial.event, "drive": trial.drive} | {
        "repetition": trial.repetition
    }


def _service(way: str, drive: str, results: Sequence[Result]) -> dict[str, Any]:
    """Return rate, latency and costs before the events."""
    return {
        "way": way,
        "product": WAYS[way].product,
        "drive": drive,
        "has_standby": bool(WAYS[way].standbys),
        "promises": WAYS[way].promises,
        "trials": len(results),
        "rate": of_trials(result["rate"] for result in results),
        "p50_ns": of_trials(result["latencies_ns"][0][0] for result in results),
        "p99_ns": of_trials(result["latencies_ns"][0][1] for result in results),
        "lag_ns": of_trials(median(r["lags_ns"]) for r in results if r["lags_ns"]),
        "link_bytes": of_trials(result["costs"]["link_bytes"] for result in results),
        "primary_cpu_ns": of_trials(result["costs"]["primary_cpu_ns"] for result in results),
        "standby_cpu_ns": of_trials(result["costs"]["standby_cpu_ns"] for result in results),
    }


def _cell(way: str, drive: str, event: str, results: Sequence[Result]) -> dict[str, Any]:
    """Return what an event did to the service, and what was lost."""
    outages = [result["outage"] for result in results]
    returned = [result["returned"] for result in results if result["returned"]]
    ledgers = [result["ledger"] for result in results]
    return {
        "way": way,
        "drive": drive,
        "event": event,
        "promises": WAYS[way].promises,
        "trials": len(results),
        "holds": all(result["holds"] for result in results),
        "acknowledged": sum(ledger["acknowledged"] for ledger in ledgers),
        "lost": [ledger["lost"] for ledger in ledgers],
        "unexplained": [result["unexplained"] for result in results],
        "away_ns": of_trials(result["away_ns"] for result in results),
        "outage_ns": of_trials(_since_error(outage, "first_success_ns") for outage in outages),
        "recovered_ns": of_trials(_since_error(outage, "recovered_ns") for outage in outages),
        "steps_ns": _steps(results),
        "rate_alone": of_trials(result["rate_alone"] for result in results),
        "rate_after": of_trials(result["rate_after"] for result in results),
        "warm_up": _warm_up(results),
        "returned_by": sorted({each["means"] for each in returned}),
        "return_ns": of_trials(each["time_ns"] for each in returned),
        "return_bytes": of_trials(each["link_bytes"] for each in returned),
    }


def of_trials(values: Iterable[float | None]) -> dict[str, float] | None:
    """Return median, least and most of the known values; None without any."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    return {"value": median(known), "low": min(known), "high": max(known)}


def _since_error(outage: Mapping[str, Any], end: str) -> int | None:
    ended = outage.get(end)
    return None if ended is None else int(ended - outage["first_error_ns"])


def _steps(results: Sequence[Result]) -> dict[str, dict[str, float] | None]:
    """Return the times of the failover's steps, by name."""
    names = list(results[0]["steps_ns"])
    return {name: of_trials(result["steps_ns"][name] for result in results) for name in names}


def _warm_up(results: Sequence[Result]) -> dict[str, Any]:
    """Return hits and reads per commit: before the event, in the first and the last interval."""
    spans: dict[str, list[Mapping[str, Any]]] = {"before": [], "first": [], "last": []}
    for warm_up in (result["warm_up"] for result in results):
        if warm_up and warm_up["before"] and warm_up["after"]:
            spans["before"].append(warm_up["before"])
            spans["first"].append(warm_up["after"][0])
            spans["last"].append(warm_up["after"][-1])
    keys = ("hit_ratio", "reads_per_commit", "end_ns")
    return {
        name: {key: of_trials(each[key] for each in found) for key in keys}
        for name, found in spans.items()
        if found
    }


def _ratios(services: Sequence[Mapping[str, Any]]) -> Iterable[dict[str, Any]]:
    """Yield the rate of each way with a standby, next to a server alone of the same product."""
    alone = {(s["product"], s["drive"]): s["rate"] for s in services if not s["has_standby"]}
    for service in services:
        base = alone.get((service["product"], service["drive"]))
        if service["has_standby"] and base:
            rate = service["rate"]
            yield {
                "way": service["way"],
                "drive": service["drive"],
                "value": rate["value"] / base["value"],
                "low": rate["low"] / base["high"],
                "high": rate["high"] / base["low"],
            }
