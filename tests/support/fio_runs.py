"""`tameshi fio` within this process, and fio itself."""

import json
import subprocess
from pathlib import Path

from command import tameshi

OK = (0, 3)
"""Exit statuses of jobs that were carried out; 3: the verdict is invalid, as on a busy machine."""


def tameshi_fio(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """`tameshi fio` in a folder, run to its end; its record lies in `record` there."""
    return tameshi("fio", "--out", "record", *words, cwd=folder)


def results(folder: Path, *words: str | Path, form: str = "json+") -> dict:
    """The JSON that `tameshi fio` prints, which is all that it prints."""
    done = tameshi_fio(folder, f"--output-format={form}", *words)
    assert done.returncode in OK, done.stderr
    return json.loads(done.stdout)


def fio(folder: Path, *words: str | Path, form: str = "json+") -> dict:
    """The JSON of the fio that is installed."""
    arguments = ["fio", f"--output-format={form}", *map(str, words)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, cwd=folder)
    return json.loads(done.stdout)
