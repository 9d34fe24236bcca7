"""States of served drives."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path

import pytest

from tameshi.serve import state


def test_state_of_another_version_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "ROOT", tmp_path)
    known = state.State("mine", "ssd", state.identified(os.getpid()), private=False)
    fields = asdict(known)
    others = {"mine": fields, "newer": fields | {"colour": 1}, "older": {"name": "older"}}
    for name, each in others.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "state.json").write_text(json.dumps(each))
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut/state.json").write_text('{"name": ')
    assert list(state.states()) == [known]
