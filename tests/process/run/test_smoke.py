"""One call of each command in a process of its own, as from a user's shell."""

from pathlib import Path

import pytest
from command import SMALL, tameshi_process

from tameshi.commands.cli import COMMANDS

QUICK = SMALL.replace("repetitions = 2", "repetitions = 1")
"""Arguments, exit status, and output: on standard output after success, else on standard error."""
FIO = (
    *("fio", "--world", "simulated", "--device", "sas-15k-146gb"),
    *("--name=a", "--size=1m", "--direct=1", "--output-format=json"),
)
CALLS = {
    "studies": (("studies",), 0, "first-look, 9 s"),
    "init": (("init", "mine"), 0, "Written: mine.toml"),
    "explain": (("explain", "buffer_pool"), 0, "engine.mysql.buffer_pool"),
    "plan": (("plan", "s.toml"), 0, "small"),
    "run": (("run", "s.toml", "--out", "again"), 0, "Report: "),
    "report": (("report", "out"), 0, "Report: "),
    "compare": (("compare", "out", "out"), 0, "same"),
    "import": (("import", "s.toml", "--out", "new"), 2, "the result of a known tool"),
    "ask": (("ask",), 2, "--database-size"),
    "fio": (FIO, 0, '"jobname": "a"'),
    "calibrate": (("calibrate", "s.toml"), 2, "s.toml"),
    "devices": (("devices",), 0, "sas-15k-146gb"),
    "doctor": (("doctor", "--json"), 0, '"checks"'),
    "verify": (("verify", "out"), 2, "out"),
    "serve": (("serve", "nosuch"), 2, "serve: there is no such profile"),
    "hosts": (("hosts", "link", "a"), 2, "link"),
    "failover": (("failover", "nosuch"), 2, "mariadb-semi-synchronous"),
    "worker": (("worker", "nosuch"), 2, "this names no scheduler"),
    "predictions": (("predictions", "--studies", "empty"), 0, "nothing to predict"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with a study and its results."""
    place = tmp_path_factory.mktemp("smoke")
    (place / "s.toml").write_text(QUICK)
    (place / "empty").mkdir()
    done = tameshi_process("run", "s.toml", "--out", "out", cwd=place)
    assert done.returncode == 0, done.stderr
    return place


@pytest.mark.slow("Python and its libraries start anew, while the other worker works")
@pytest.mark.parametrize("name", COMMANDS)
def test_command_in_its_own_process_has_expected_status(folder: Path, name: str) -> None:
    words, status, result = CALLS[name]
    done = tameshi_process(*words, cwd=folder)
    assert done.returncode == status, done.stderr
    printed = done.stderr if status else done.stdout
    assert result.lower() in printed.lower(), printed
    assert "Traceback" not in done.stderr
