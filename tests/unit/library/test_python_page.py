"""Examples of docs/python.md, run as they are written."""

import doctest
from pathlib import Path

import pytest


@pytest.mark.slow("runs simulated studies, each run in a process of its own")
def test_examples_of_the_page_hold(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = str(root / "docs" / "python.md")
    failed, tried = doctest.testfile(page, module_relative=False, encoding="utf-8")
    assert failed == 0 and tried > 10
