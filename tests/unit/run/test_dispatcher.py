"""Order of simulated runs, and messages at a worker's end."""

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tameshi.run import dispatcher
from tameshi.run.process import last_words
from tameshi.run.run_queue import RunQueue


def test_unknown_cells_run_first_then_longest_previous() -> None:
    tasks: Any = [SimpleNamespace(setting=cell) for cell in "abcabc"]
    queue, order = RunQueue(tasks), []
    seconds = {"a": 2.0, "b": 9.0, "c": 5.0}
    while queue.count:
        task = queue.take()
        queue.note(task, seconds[task.setting])
        order.append(task.setting)
    assert order == ["a", "b", "c", "b", "c", "a"]


def test_next_run_starts_while_results_are_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun = {name: threading.Event() for name in ("first", "second")}
    seen = []

    def run_one(_session: Any, task: Any) -> None:
        begun[task.name].set()

    def on_sealed() -> None:
        seen.append(begun["second"].wait(10))

    monkeypatch.setattr(dispatcher, "run_one", run_one)
    session: Any = SimpleNamespace(stopping=threading.Event(), on_sealed=on_sealed)
    tasks: Any = [SimpleNamespace(name=name) for name in begun]
    dispatcher._run_group(session, tasks, 1)
    assert seen == [True, True]


def test_out_of_memory_is_reported_despite_stack_trace(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    said = "memory allocation of 77846282240 bytes failed"
    log.write_text("\n".join([said, "stack backtrace:", *(f"{n}: frame" for n in range(40))]))
    assert last_words(log) == said
    log.write_text("\n".join(str(n) for n in range(40)))
    assert last_words(log) == " / ".join(str(n) for n in range(20, 40))
