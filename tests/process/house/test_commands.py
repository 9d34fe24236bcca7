"""Lazy imports of the command line, and its summaries of commands."""

import subprocess
import sys
from importlib import import_module

import pytest
import typer
from typer.testing import CliRunner

from tameshi.commands.cli import COMMANDS, app, module_of


@pytest.mark.parametrize("name", COMMANDS)
def test_command_summary_is_first_line_of_its_help(name):
    command = typer.main.get_command(import_module(module_of(name)).app)
    assert command.help.splitlines()[0] == COMMANDS[name]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_texts_verbatim(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "4000")
    command = typer.main.get_command(import_module(module_of(name)).app)
    inner = getattr(command, "commands", {})
    for words, each in [([], command), *(([word], each) for word, each in inner.items())]:
        shown = plain(CliRunner().invoke(app, [name, *words, "--help"]).stdout)
        assert each.params or each.help
        for result in (each, *each.params):
            assert plain(result.help or "") in shown, result.name


def plain(text: str) -> str:
    return " ".join(text.split())


def test_help_loads_no_result_libraries():
    script = (
        "import sys; from tameshi.commands.cli import app; app(['--help'], standalone_mode=False); "
        "print([m for m in ('polars', 'scipy', 'plotly', 'pydantic') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr
    assert all(name in done.stdout for name in COMMANDS)


@pytest.mark.parametrize("name", ["devices", "doctor", "verify"])
def test_command_without_plan_loads_no_heavy_module(name):
    script = (
        f"import sys, tameshi.commands.{name}; heavy = ('polars', 'scipy', 'plotly', 'jinja2', "
        "'tameshi.core.spec_types'); print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_invalid_study_is_refused_without_heavy_imports(tmp_path):
    study = tmp_path / "s.toml"
    study.write_text("titel = 1\n")
    script = (
        "import sys; from tameshi.commands.cli import main\n"
        "try: main()\n"
        "finally: print([m for m in ('polars', 'scipy', 'plotly') if m in sys.modules])"
    )
    command = [sys.executable, "-c", script, "run", str(study)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "s.toml:1:1" in done.stderr, done.stderr
    assert done.stdout.strip() == "[]", done.stdout
