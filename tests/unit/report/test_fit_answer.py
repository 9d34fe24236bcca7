"""Choice of a calibrated model, as its report explains it."""

from __future__ import annotations

from typing import Any

import pytest

from tameshi.report.fit import answer
from tameshi.report.words.text import Text


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
def test_better_fitting_model_not_chosen_shows_both_scores(lang: str) -> None:
    (_, words) = answer(document(CHOSEN, NEARER), Text(lang))
    parts = ("26.0", "28.0", "4.0", "12.0", "30.0", "40.0", "12.0 %", "5.0 %")
    assert all(part in words for part in (*parts, CHOSEN["model"], NEARER["model"]))


def test_best_fitting_chosen_model_needs_no_sentence() -> None:
    assert len(answer(document(CHOSEN, {**NEARER, "error": 0.2}), Text("en"))) == 1


def held_out(cells: int, far: int) -> dict[str, Any]:
    """Return a fit's summary of the held-out cells."""
    errors = {"median_error": 0.3, "worst_error": 1.0, "within_10": 0, "within_10_p50": 0}
    return {"cells": cells, "beyond_25": far, "repeated": 0, **errors}


@pytest.mark.parametrize(("lang", "word"), [("en", "Warning: "), ("ja", "警告: ")])
@pytest.mark.parametrize(("cells", "far", "warns"), [(5, 3, True), (4, 2, False), (0, 0, False)])
def test_profile_with_bad_predictions_has_a_warning(
    lang: str, word: str, cells: int, far: int, warns: bool
) -> None:
    entry = document(CHOSEN)
    entry["summary"] = {**entry["summary"], "held_out": held_out(cells, far)}
    words = [line for line in answer(entry, Text(lang)) if line.startswith(word)]
    assert bool(words) == warns
    assert all(str(far) in line and str(cells) in line and "25 %" in line for line in words)


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_untried_models_are_named_with_their_parameters(lang: str) -> None:
    not_tried = [{"model": "a volume in rounds", "parameters": 7}, {"model": "f", "parameters": 8}]
    (_, words) = answer({**document(CHOSEN), "not_tried": not_tried}, Text(lang))
    assert all(part in words for part in ("a volume in rounds", "7", "8"))
