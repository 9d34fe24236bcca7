"""Failed storages in the answer, and reasons of missed events."""

from __future__ import annotations

from typing import Any

import first_look

from tameshi.core.reasons import quoted, reason
from tameshi.report.study import terminal_doubts, terminal_summary
from tameshi.report.view.inputs import ReportInputs
from tameshi.report.words.text import Text

WHY = reason("member_alive", member=1)
REASON = reason("missed", "needless")


def results_with(*found: dict[str, Any]) -> dict[str, Any]:
    """Return the results of a study whose storage failed during the measurement."""
    results = first_look.results(("simulated",))
    cell = next(cell for cell in results["cells"] if cell["phase"] != "sweep")
    return results | {"cells": [cell | {"findings": list(found)}]}


def dead(figure: str, at_ns: float, repetition: int = 0) -> dict[str, Any]:
    """Return a finding of a run."""
    figures = {figure: at_ns}
    return {"repetition": repetition, "code": "dead", "subject": "m", "figures": figures}


def first_line(*found: dict[str, Any], lang: str = "en") -> str:
    """Return the first line of the answer."""
    return terminal_summary(ReportInputs(results_with(*found)), lang)[0]


def test_failed_storage_comes_before_any_rate() -> None:
    words = "Storage m failed at 2.00 s and served nothing after that."
    assert words in first_line(dead("failed_ns", 2e9))
    assert "Storage m served nothing after 2.10 s." in first_line(dead("since_ns", 2.1e9))
    assert "ストレージmは2.00 sに故障" in first_line(dead("failed_ns", 2e9), lang="ja")


def test_runs_of_a_cell_share_a_sentence() -> None:
    times = dead("failed_ns", 2e9), dead("failed_ns", 2.5e9, repetition=1)
    assert "at 2.00–2.50 s and served nothing" in first_line(*times)
    results = results_with(dead("failed_ns", 2e9))
    (cell,) = results["cells"]
    results["cells"] = [cell | {"levels": {"depth": str(depth)}} for depth in range(1, 6)]
    results["axes"] = [{"name": "depth", "varies": "across", "levels": [*"12345"]}]
    line = terminal_summary(ReportInputs(results))[0]
    assert line.count("Storage m failed") == 3 and line.endswith("; 2 more failures.")
    assert "after that (" in line and "depth 1)" in line


def test_terminal_gives_the_reason_of_a_missed_event() -> None:
    results = results_with()
    event = {"kind": "missed", "event": "needless", "storage": "m", "why": WHY}
    stretch = {"repetition": 0, "from_ns": 0, "to_ns": 1, "happened": [event], "streams": []}
    (cell,) = results["cells"]
    verdict = {"level": "warning", "reasons": [quoted("commands failed"), REASON]}
    results |= {"verdict": verdict, "cells": [cell | {"timeline": [stretch], "verdict": verdict}]}
    lines = terminal_doubts(ReportInputs(results))
    assert lines[1:] == [
        "  Warnings for every cell: commands failed.",
        f"  `needless` did not happen: {Text().reason(WHY)}",
    ]
    japanese = terminal_doubts(ReportInputs(results), "ja")
    assert japanese[-1].startswith("  「needless」は実行されなかった：")
