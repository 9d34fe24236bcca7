"""Results of a study that compares two storages in three phases."""

from typing import Any

PHASES = {
    "small": {"iops": 1000.0, "bandwidth": 4.096e6, "latency.mean": 64e6},
    "large": {"iops": 100.0, "bandwidth": 1.048576e8, "latency.mean": 10e6},
    "alone": {"iops": 200.0, "bandwidth": 8.192e5, "latency.mean": 5e6},
}
"""Phases with 64 outstanding, with requests of 1 MiB, and with one outstanding."""
USED = {"disk": {"used_bytes": 98 * 10**9}, "card": {}}


def cell(storage: str, phase: str, subject: str) -> dict[str, Any]:
    result = PHASES[phase]
    drawn = {"watts": 20.0, "iops_per_watt": result["iops"] / 20, "bandwidth_per_watt": None}
    return {
        "world": "simulated",
        "phase": phase,
        "levels": {"storage": storage},
        "runs": {"complete": 1},
        "windows": {phase: 1.0},
        "estimates": [
            {"metric": f"read.{metric}", "subject": "s", "window": phase, "value": value}
            for metric, value in result.items()
        ],
        "power": [
            {"subject": subject, "capacity_bytes": 300 * 10**9, **USED[storage], **drawn},
        ],
    }


def results(subjects: tuple[str, str] = ("storage.disk", "storage.card")) -> dict[str, Any]:
    each = dict(zip(USED, subjects, strict=True))
    latency = {
        "cell": {"storage": "disk"},
        "phase": "alone",
        "metric": "read.latency.mean",
        "unit": "ms",
        "predicted": 5.0,
        "low": None,
        "high": None,
    }
    return {
        "study": {"name": "s", "title": "S", "question": "Why?"},
        "axes": [{"name": "storage", "varies": "across", "levels": list(USED)}],
        "cells": [cell(storage, phase, each[storage]) for storage in USED for phase in PHASES],
        "published": [
            {"id": "S0-0001", **latency, "published": 1.0},
            {"id": "S0-0002", **latency, "published": 10.0},
        ],
    }
