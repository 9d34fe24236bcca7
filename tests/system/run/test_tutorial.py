"""The tutorial: each of its commands runs, and prints what the page shows."""

import re
import shlex
from pathlib import Path

import pytest
from command import tameshi

PAGE = Path(__file__).resolve().parents[3] / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```(toml|sh|text)(?: \w+)?\n(.*?)^```", re.MULTILINE | re.DOTALL)
FAULT = 'workload = "tpcc"'


def plain(text: str) -> str:
    """Words of a text, however its lines are broken."""
    return " ".join(text.split())


@pytest.mark.timeout(300)
def test_tutorial_commands_print_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown, compared = "", 0
    for kind, block in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "toml":
            (tmp_path / "buffer-pool.toml").write_text(block, encoding="utf-8")
        elif kind == "sh":
            for command in block.splitlines():
                program, *words = shlex.split(command)
                assert program == "tameshi"
                done = tameshi(*words)
                assert done.returncode == 0, done.stderr
                shown = done.stdout + done.stderr
        else:
            assert plain(block) in plain(shown)
            compared += 1
    assert compared >= 4


def test_tutorial_shows_the_error_of_a_mistyped_study(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    study = next(block for kind, block in BLOCK.findall(page) if kind == "toml")
    path = tmp_path / "buffer-pool.toml"
    path.write_text(study.replace('workload = ["tpcc"]', FAULT), encoding="utf-8")
    done = tameshi("plan", path)
    (error,) = re.findall(r"^```error\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert done.returncode == 2 and plain(error) in plain(done.stderr)
