"""Doctor on this machine, and its output."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from tameshi.core.errors import BadInput
from tameshi.doctor import Diagnosis, as_json, doctor, render
from tameshi.doctor.facts import Facts, Target
from tameshi.doctor.judge import judge
from tameshi.doctor.table import CHECKS, WORLDS


def shown(diagnosis: Diagnosis, width: int) -> str:
    out = io.StringIO()
    render(diagnosis, Console(file=out, width=width, highlight=False))
    return out.getvalue()


def joined(text: str) -> str:
    """Return the text without frames and line breaks, so that words can be found in it."""
    return "".join(part for part in text.split() if part != "│")


def test_this_machine_is_examined_and_left_as_it_was(tmp_path: Path) -> None:
    diagnosis = doctor([tmp_path])
    keys = {check.key for check in diagnosis.checks}
    assert keys <= set(CHECKS)
    assert {"machine.system", "io.uring", "io.fuse", "io.loop", "target.direct"} <= keys
    assert diagnosis.exit_status == 0 and diagnosis.can("simulated")
    assert list(tmp_path.iterdir()) == []


def test_without_a_path_the_current_folder_is_examined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert {check.subject for check in doctor().checks} == {"", str(tmp_path)}
    assert doctor([Path(), tmp_path]).checks[-1].outcome != "shared"


def test_foreign_file_makes_the_status_one(tmp_path: Path) -> None:
    (tmp_path / "thesis").write_text("mine")
    diagnosis = doctor([tmp_path / "thesis"])
    assert diagnosis.exit_status == 1 and not diagnosis.can("measured")
    assert [check.key for check in diagnosis.stopping("measured")] == ["target.place"]


@pytest.mark.parametrize("lang", ["en", "ja"])
@pytest.mark.parametrize("width", [60, 100])
def test_every_word_is_shown_on_any_width(tmp_path: Path, lang: str, width: int) -> None:
    diagnosis = doctor([tmp_path, tmp_path / "nope" / "x"], lang)
    text = shown(diagnosis, width)
    assert "…" not in text
    if width == 100:
        seen = joined(text)
        for check in diagnosis.checks:
            assert joined(check.found) in seen and joined(check.remedy) in seen


def test_paths_are_no_markup() -> None:
    facts = Facts(targets=(Target("/[bold]x[/nope]", refusal="[red]no[/]"),))
    text = shown(judge(facts), 100)
    assert "/[bold]x[/nope]" in text and "[red]no[/]" in text


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_json_is_plain_with_language_free_names(tmp_path: Path, lang: str) -> None:
    found = as_json(doctor([tmp_path], lang))
    assert json.loads(json.dumps(found)) == found
    assert found["schema_version"] == 1 and found["language"] == lang
    assert list(found["worlds"]) == list(WORLDS)
    assert found["worlds"]["measured"]["can_run"] is True
    for check in found["checks"]:
        assert check["outcome"] in CHECKS[check["key"]].outcomes
        assert check["state"] in ("ok", "warning", "missing")


def test_an_unknown_language_is_bad_input() -> None:
    with pytest.raises(BadInput, match=r"--lang: .*Found: fr\. Accepted: en or ja\."):
        doctor([], "fr")
