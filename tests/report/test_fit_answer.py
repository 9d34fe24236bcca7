"""Why a calibrated model was chosen, as the answer of its report says it."""

from __future__ import annotations

from typing import Any

import pytest

from tameshi.report.fit import answer
from tameshi.report.text import Text


def document(*considered: dict[str, Any]) -> dict[str, Any]:
    summary = {"cells": 0, "repeated": 0}
    return {
        "basis": "3 cells",
        "considered": list(considered),
        "summary": {"fitted": summary, "held_out": summary},
    }


CHOSEN = {"model": "a plain volume", "score": 30.0, "penalty": 4.0, "error": 0.12}
NEARER = {"model": "a volume with limits", "score": 40.0, "penalty": 12.0, "error": 0.05}


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_a_model_that_comes_nearer_and_is_not_chosen_is_told_with_both_scores(lang: str) -> None:
    (_, said) = answer(document(CHOSEN, NEARER), Text(lang))
    parts = ("26.0", "28.0", "4.0", "12.0", "30.0", "40.0", "12.0 %", "5.0 %")
    assert all(part in said for part in (*parts, CHOSEN["model"], NEARER["model"]))


def test_nothing_is_said_where_the_chosen_model_is_the_nearest() -> None:
    assert len(answer(document(CHOSEN, {**NEARER, "error": 0.2}), Text("en"))) == 1
