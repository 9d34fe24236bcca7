"""`tameshi fio` and fio itself, each in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path


def tameshi_fio(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """`tameshi fio` in a folder, run to its end; its record lies in `record` there."""
    arguments = [sys.executable, "-m", "tameshi", "fio", "--out", "record", *map(str, words)]
    return subprocess.run(arguments, capture_output=True, text=True, check=False, cwd=folder)


def results(folder: Path, *words: str | Path, form: str = "json+") -> dict:
    """The JSON that `tameshi fio` prints, which is all that it prints."""
    done = tameshi_fio(folder, f"--output-format={form}", *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def fio(folder: Path, *words: str | Path, form: str = "json+") -> dict:
    """The JSON of the fio that is installed."""
    arguments = ["fio", f"--output-format={form}", *map(str, words)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, cwd=folder)
    return json.loads(done.stdout)
