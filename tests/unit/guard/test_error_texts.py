"""Texts of refusals."""

from __future__ import annotations

import pickle

import pytest

from tameshi.core.errors import BadInput, GuardRefusal, RunFailed, TameshiError


def test_error_has_place_found_and_accepted() -> None:
    error = BadInput(
        "unknown key",
        where="study.toml:12:7",
        key="workload.tpcc.warehouse",
        found="warehouse",
        accepted=["clients", "manner", "warehouses"],
        hint="Did you mean warehouses?",
    )
    assert str(error) == (
        "study.toml:12:7: workload.tpcc.warehouse: unknown key. Found: warehouse. "
        "Accepted: clients, manner or warehouses. Did you mean warehouses?"
    )


def test_an_error_with_a_message_alone_is_a_sentence() -> None:
    assert str(RunFailed("the server died")) == "the server died."


@pytest.mark.parametrize(
    ("kind", "status"), [(TameshiError, 1), (RunFailed, 1), (BadInput, 2), (GuardRefusal, 2)]
)
def test_exit_status_distinguishes_input_from_failure(
    kind: type[TameshiError], status: int
) -> None:
    assert kind("x").exit_status == status


def test_error_survives_pickling() -> None:
    error = GuardRefusal("no", where="/x", accepted=["y"])
    back = pickle.loads(pickle.dumps(error))
    assert (type(back), str(back)) == (GuardRefusal, str(error))
