"""Manners of the command line: version, short help, completion, readers that leave early."""

import io
import json
import os
import subprocess
from importlib.metadata import version

import pytest
from command import SMALL, arguments, tameshi, tameshi_process
from rich.console import Console

from tameshi.commands.cli import COMMANDS
from tameshi.commands.summary import print_summary
from tameshi.workflow.study_folder import Shown


def test_version_is_shown():
    done = tameshi("--version")
    assert (done.returncode, done.stdout) == (0, f"tameshi {version('tameshi')}\n")


@pytest.mark.parametrize("words", [[], *([name] for name in COMMANDS), ["devices", "show"]])
def test_short_help_equals_long_help(words):
    short, long = tameshi(*words, "-h"), tameshi(*words, "--help")
    assert short.returncode == 0
    assert short.stdout == long.stdout


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("pl", "plan"),
        ("plan --qu", "--quick"),
        ("plan first", "first-look"),
        ("run mysql-d", "mysql-disk-or-flash"),
        ("run ./mi", "./mine.toml"),
        ("init x --like first", "first-look"),
        ("devices show sas-15k-3", "sas-15k-300gb"),
        ("serve sas-15k-3", "sas-15k-300gb"),
        ("serve first", "first-look:"),
        ("ask --storage null,sas-15k-3", "null,sas-15k-300gb"),
        ("explain read.latency.p999", "read.latency.p999"),
    ],
)
def test_shell_completes_commands_options_and_names(typed, expected, tmp_path):
    (tmp_path / "mine.toml").touch()
    (tmp_path / "mirror.txt").touch()
    typing = {"COMP_WORDS": f"tameshi {typed}", "COMP_CWORD": str(typed.count(" ") + 1)}
    shell = {"_TAMESHI_COMPLETE": "complete_bash", **typing}
    script = "import sys; sys.argv = ['tameshi']; from tameshi.commands.cli import main; main()"
    words = [arguments()[0], "-c", script]
    env = {**os.environ, **shell}
    done = subprocess.run(words, capture_output=True, text=True, env=env, cwd=tmp_path)
    assert done.stdout.split() == [expected], done.stderr


@pytest.mark.parametrize("command", ["devices", "plan mysql-disk-or-flash", "plan pts-iops --json"])
def test_reader_that_leaves_early_causes_no_error(command):
    shell = 'set -o pipefail; "$@" | head -n 1; exit $?'
    words = ["bash", "-c", shell, "bash", *arguments(*command.split())]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1


def test_run_ends_its_work_without_a_reader(tmp_path):
    (tmp_path / "s.toml").write_text(SMALL)
    words = arguments("run", tmp_path / "s.toml", "--out", tmp_path / "out")
    shell = '"$@" 2>&1 | true; exit ${PIPESTATUS[0]}'
    done = subprocess.run(["bash", "-c", shell, "bash", *words])
    assert done.returncode == 0
    assert json.loads((tmp_path / "out" / "results.json").read_text())["cells"]


def test_json_of_run_is_its_results_alone(tmp_path):
    (tmp_path / "s.toml").write_text(SMALL)
    done = tameshi("run", tmp_path / "s.toml", "--out", tmp_path / "out", "--json")
    assert json.loads(done.stdout) == json.loads((tmp_path / "out" / "results.json").read_text())
    assert "runs of 2 cells" in done.stderr and "Report: " in done.stderr


def test_terminal_summary_is_five_lines_of_80_columns(tmp_path):
    answers = [f"Topic {number} — " + "a long answer " * 9 for number in range(4)]
    shown = Shown(answers, ["Verdict: invalid", "  why", "  and why"], tmp_path / "report.html")
    printed = {}
    for terminal, verbose in ((True, False), (True, True), (False, False)):
        console = Console(file=io.StringIO(), force_terminal=terminal, color_system=None)
        print_summary(shown, console, verbose=verbose)
        printed[terminal, verbose] = console.file.getvalue().splitlines()
    brief, whole, piped = printed.values()
    assert brief[:2] == ["Verdict: invalid", "  why"] and brief[-1] == whole[-1]
    assert len(brief) == 5 and max(map(len, brief[:-1])) == 80
    assert whole == piped == [*answers, *shown.doubts, f"Report: {tmp_path}/report.html"]


def test_interpreter_module_is_the_command():
    assert tameshi_process("--version").stdout == tameshi("--version").stdout
