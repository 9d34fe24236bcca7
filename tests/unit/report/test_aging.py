"""Answer on weak capacitors at power cuts, and on flash life gained by read retry."""

from __future__ import annotations

from typing import Any

import pytest

from tameshi.report.sections.answer import answers
from tameshi.report.view.points import read_results
from tameshi.report.words.text import Text


def cell(age: str, hold_ms: float, lost: int, life: float, retried: float) -> dict[str, Any]:
    cut = {
        "kind": "power_cut",
        "event": "dark",
        "storage": "card",
        "outstanding": 256,
        "flush_ns": 80e6,
        "hold_up_ns": hold_ms * 1e6,
        "lost_writes": lost,
        "lost_bytes": 4096 * lost,
        "torn_writes": 0,
    }
    return {
        "world": "simulated",
        "phase": "write",
        "levels": {"age": age},
        "runs": {"complete": 1},
        "estimates": [
            {"metric": "write.iops", "subject": "writes", "window": "write", "value": 1000.0}
        ],
        "timeline": [{"repetition": 0, "from_ns": 0, "happened": [cut]}] if hold_ms else [],
        "endurance": [
            {"subject": "storage.card", "life_years": life, "life_years_retried": retried}
        ],
    }


def told(cells: list[dict[str, Any]], lang: str = "en") -> dict[str, str]:
    lines = answers(read_results({"cells": cells}), Text(lang))
    topics = [Text(lang)(f"answer.{key}") for key in ("cut", "retry")]
    return {line.topic: line.clauses[0].sentence for line in lines if line.topic in topics}


def test_answer_has_power_cut_losses_and_read_retry_gains() -> None:
    cells = [
        cell("new", 1000, 0, 2.0, 3.0),
        cell("old", 80, 0, 0.0, 1.5),
        cell("worn", 40, 2048, 0.0, 0.1),
    ]
    assert told(cells) == {
        "Power loss": "Flushing the buffer of card to flash takes 80.0 ms; a capacitor that holds "
        "80.0 ms – 1.00 s loses no acknowledged write; one that holds 40.0 ms loses up to "
        "2,048 acknowledged writes (8.00 MiB; write · worn).",
        "Read retry": "Write · new: flash lasts 3 years with read retry and 2 years without, "
        "1.50 ×; flash that is worn out without it lasts from 36.5 days (write · worn) to 1.5 "
        "years (write · old).",
    }


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_answer_is_empty_without_losses_and_worn_flash(lang: str) -> None:
    assert told([cell("new", 0, 0, 2.0, 3.0)], lang) == {}
    assert len(told([cell("worn", 40, 2048, 0.0, 0.1)], lang)) == 2
