"""Lazy imports of the command line, and its summaries of commands."""

import subprocess
import sys
from importlib import import_module

import pytest
import typer
from typer.testing import CliRunner

from tameshi.commands.cli import COMMANDS, app


@pytest.mark.parametrize("name", COMMANDS)
def test_command_summary_is_first_line_of_its_help(name):
    command = typer.main.get_command(import_module(f"tameshi.commands.{name}").app)
    assert command.help.splitlines()[0] == COMMANDS[name]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_texts_verbatim(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "4000")
    command = typer.main.get_command(import_module(f"tameshi.commands.{name}").app)
    inner = getattr(command, "commands", {})
    for words, each in [([], command), *(([word], each) for word, each in inner.items())]:
        shown = plain(CliRunner().invoke(app, [name, *words, "--help"]).stdout)
        assert each.params
        for told in (each, *each.params):
            assert plain(told.help or "") in shown, told.name


def plain(text: str) -> str:
    return " ".join(text.split())


def test_help_loads_no_result_libraries():
    script = (
        "import sys; from tameshi.cli import app; app(['--help'], standalone_mode=False); "
        "print([m for m in ('polars', 'scipy', 'plotly', 'pydantic') if m in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert told.stdout.splitlines()[-1] == "[]", told.stderr
    assert all(name in told.stdout for name in COMMANDS)


@pytest.mark.parametrize("name", ["devices", "doctor", "verify"])
def test_command_without_plan_loads_no_heavy_module(name):
    script = (
        f"import sys, tameshi.commands.{name}; heavy = ('polars', 'scipy', 'plotly', 'jinja2', "
        "'tameshi.core.spec_types'); print([m for m in heavy if m in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert told.stdout.strip() == "[]", told.stderr


def test_invalid_study_is_refused_without_heavy_imports(tmp_path):
    study = tmp_path / "s.toml"
    study.write_text("titel = 1\n")
    script = (
        "import sys; from tameshi.cli import main\n"
        "try: main()\n"
        "finally: print([m for m in ('polars', 'scipy', 'plotly') if m in sys.modules])"
    )
    command = [sys.executable, "-c", script, "run", str(study)]
    told = subprocess.run(command, capture_output=True, text=True)
    assert "s.toml:1:1" in told.stderr, told.stderr
    assert told.stdout.strip() == "[]", told.stdout
