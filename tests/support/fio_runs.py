"""Runs of `tameshi fio` within this process, and of fio itself."""

import json
import subprocess
from pathlib import Path

from command import tameshi

OK = (0, 3)
"""Exit statuses of completed jobs; 3: the verdict is invalid, as on a busy machine."""


def tameshi_fio(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run `tameshi fio` in a folder; its record is in `record` there."""
    return tameshi("fio", "--out", "record", *words, cwd=folder)


def results(folder: Path, *words: str | Path, form: str = "json+") -> dict:
    """Return the JSON printed by `tameshi fio`, its only output."""
    done = tameshi_fio(folder, f"--output-format={form}", *words)
    assert done.returncode in OK, done.stderr
    return json.loads(done.stdout)


def fio(folder: Path, *words: str | Path, form: str = "json+") -> dict:
    """Return the JSON of the installed fio."""
    arguments = ["fio", f"--output-format={form}", *map(str, words)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, cwd=folder)
    return json.loads(done.stdout)
