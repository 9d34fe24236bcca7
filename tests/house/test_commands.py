"""The command line names its commands without importing them: what it says of each is true."""

import subprocess
import sys
from importlib import import_module

import pytest
import typer

from tameshi.cli import COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_a_commands_line_in_the_list_is_the_first_of_its_own_help(name):
    command = typer.main.get_command(import_module(f"tameshi.commands.{name}").app)
    assert command.help.splitlines()[0] == COMMANDS[name]


def test_asking_for_help_loads_no_library_of_results():
    script = (
        "import sys; from tameshi.cli import app; app(['--help'], standalone_mode=False); "
        "print([m for m in ('polars', 'scipy', 'plotly', 'pydantic') if m in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert told.stdout.splitlines()[-1] == "[]", told.stderr
    assert all(name in told.stdout for name in COMMANDS)
