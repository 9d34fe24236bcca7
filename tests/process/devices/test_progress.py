"""Progress of a drive's simulation, and validated scales."""

import io
import threading
from typing import Any

import pytest
from rich.console import Console

from tameshi.core.spec_types import Until
from tameshi.devices import find, html, render
from tameshi.devices.behaviour import Behaviour, Measured, Point, behaviour
from tameshi.devices.progress import progress_bar, run_phases, share_of
from tameshi.devices.show import as_json

ENDS = [Until(amount="10 B"), *[Until(time="100 ns")] * 3]


def progress(phase: int, elapsed: int, done: int) -> dict[str, int]:
    times = {"elapsed_ns": elapsed, "phase_begin_ns": 100, "phase_bytes": done}
    return {"phase": phase, **times}


@pytest.mark.parametrize(
    ("expected", "share"),
    [
        (progress(0, 0, 0), None),
        (progress(0, 50, 5), 0.125),
        (progress(1, 150, 0), 0.375),
        (progress(3, 900, 0), 1.0),
    ],
)
def test_progress_counts_phases_and_fractions(expected, share):
    assert share_of(expected, ENDS) == share


@pytest.mark.slow("a drive becomes steady")
def test_progress_rises_to_the_end_of_simulation(monkeypatch):
    monkeypatch.setattr("tameshi.devices.progress.SECONDS", 0.005)
    seen: list[float | None] = []
    found = behaviour(find("nytro-blp4-400g", "devices show"), seen.append)
    shares = [share for share in seen if share is not None]
    assert found and len(shares) > 10
    assert shares == sorted(shares)
    assert 0 <= shares[0] < 0.5 < shares[-1] <= 1


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_terminal_shows_bar_and_file_nothing(lang):
    shown = {}
    for terminal in (True, False):
        file = io.StringIO()
        with progress_bar(Console(file=file, force_terminal=terminal), lang) as watch:
            watch(None)
            watch(0.5)
        shown[terminal] = file.getvalue()
    assert {"en": "simulating", "ja": "シミュレーション中"}[lang] in shown[True]
    assert shown[False] == ""


class Endless:
    """Work that ends only when stopped."""

    def __init__(self) -> None:
        self.ended = threading.Event()

    def run(self, *_: Any) -> None:
        self.ended.wait(60)

    def progress(self) -> dict[str, int]:
        return progress(0, 0, 0)

    def stop(self) -> None:
        self.ended.set()


def test_interrupt_ends_the_simulation():
    def interrupt(_: float | None) -> None:
        raise KeyboardInterrupt

    work = Endless()
    with pytest.raises(KeyboardInterrupt):
        run_phases(work, ENDS, interrupt)
    assert work.ended.is_set()


@pytest.mark.parametrize(("scale", "proven"), [(1, True), (256, True), (512, False), (1024, False)])
def test_unvalidated_scale_is_marked(scale, proven):
    drive = find("nvme-qlc-15.36tb", "devices show")
    point = Point(1.0, 1.0, 1e5, 1e5)
    found = Behaviour(scale, True, (point, point), (Measured("one_read_4k", 1.0, 1.0, 1.0),))
    assert as_json(drive, found)["behaviour"]["scale_is_proven"] == proven
    for lang, word in (("en", "not validated"), ("ja", "未検証")):
        out = Console(file=io.StringIO(), width=400)
        out.print(render(drive, found, lang))
        for text in (out.file.getvalue(), html(drive, found, lang)):
            assert (word in text) != proven
