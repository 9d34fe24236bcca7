"""Examples of docs/python.md and the README, run as they are written."""

import doctest
from pathlib import Path

import pytest


@pytest.mark.slow("runs simulated studies, each run in a process of its own")
@pytest.mark.parametrize(("page", "examples"), [("docs/python.md", 18), ("README.md", 3)])
def test_examples_of_the_page_hold(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str, examples: int
) -> None:
    monkeypatch.chdir(tmp_path)
    done = doctest.testfile(str(root / page), module_relative=False, encoding="utf-8")
    assert (done.failed, done.attempted) == (0, examples)
