"""Worker side of a cluster: limits of a batch, stops, refusals, and what remains on the worker."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import distributed
import pytest
from sealing import folder_content, made_tasks, seal_run

from tameshi.cluster import remote
from tameshi.record import store
from tameshi.record.transfer import stored
from tameshi.run.dispatcher import Session
from tameshi.run.tasks import Task


class Worker:
    """Worker of Dask as a batch sees it."""

    address = "tcp://10.0.0.1:1"

    def __init__(self, folder: Path) -> None:
        self.local_directory = str(folder)
        self.sent: list[Any] = []
        self.task = SimpleNamespace(state="executing")
        self.state = SimpleNamespace(tasks={"key": self.task})
        self.status = SimpleNamespace(name="running")

    def get_current_task(self) -> str:
        return "key"

    def log_event(self, topic: str, message: Any) -> None:
        self.sent.append((topic, message))


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Worker:
    (tmp_path / "scratch").mkdir()
    made = Worker(tmp_path / "scratch")
    monkeypatch.setattr(distributed, "get_worker", lambda: made)
    monkeypatch.setattr(remote, "run_one", sealed)
    return made


def sealed(session: Session, task: Task) -> None:
    """Seal a run without its simulation; a stopped one is partial."""
    seal_run(task, session.folder, "partial" if session.stopping.is_set() else "complete")


def executed(tasks: Sequence[Task], limit_s: float = 60, name: str = "c", **needs: Any) -> Any:
    """Return a worker's answer to these runs."""
    needed = {**remote.described(), **needs}
    return remote.execute(
        remote.request(name, 7, needed, limit_s, tasks[0].examined.environment, tasks)
    )


def test_batch_returns_a_record_for_each_run(worker: Worker, tmp_path: Path) -> None:
    tasks = made_tasks(tmp_path)
    answer = executed(tasks)
    assert (answer["worker"], answer["left"]) == (worker.address, [])
    assert [run["identity"] for run in answer["runs"]] == [task.identity for task in tasks]
    with store.locked_study(tmp_path / "results"):
        for task, run in zip(tasks, answer["runs"], strict=True):
            place = store.run_folder(tmp_path / "results", task.identity)
            assert stored(place, task.spec, task.identity, run["files"]).outcome
    assert folder_content(tmp_path / "scratch") == {}
    assert worker.sent[0] == ("c", {"kind": "began", "number": 7, "worker": worker.address})


def test_batch_over_its_time_leaves_the_rest(worker: Worker, tmp_path: Path) -> None:
    tasks = made_tasks(tmp_path)
    answer = executed(tasks, limit_s=0)
    assert [run["identity"] for run in answer["runs"]] == [tasks[0].identity]
    assert answer["left"] == [task.identity for task in tasks[1:]]


def test_batch_with_large_records_leaves_the_rest(
    worker: Worker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "MOST_BYTES", 1)
    answer = executed(made_tasks(tmp_path))
    assert len(answer["runs"]) == 1 and len(answer["left"]) == 5


@pytest.mark.parametrize("needs", [{"core": "f" * 64}, {"version": "9.9.9"}])
def test_worker_refuses_runs_of_another_tameshi(
    worker: Worker, tmp_path: Path, needs: dict[str, str]
) -> None:
    answer = executed(made_tasks(tmp_path), **needs)
    assert answer["refused"] == remote.described() and answer["runs"] == []


def test_stopped_collector_gets_no_more_runs(worker: Worker, tmp_path: Path) -> None:
    tasks = made_tasks(tmp_path)
    remote.stop("stopped before")
    answer = executed(tasks, name="stopped before")
    assert answer["runs"] == [] and len(answer["left"]) == 6


def test_stop_leaves_a_partial_run(
    worker: Worker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(session: Session, task: Task) -> None:
        remote.stop("stopped now")
        sealed(session, task)

    monkeypatch.setattr(remote, "run_one", stopped)
    answer = executed(made_tasks(tmp_path), name="stopped now")
    assert len(answer["runs"]) == 1 and len(answer["left"]) == 5


@pytest.mark.parametrize("end", ["cancelled", "worker closes", "task is gone"])
def test_run_that_is_not_wanted_is_stopped(
    worker: Worker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    def wait(session: Session, task: Task) -> None:
        if end == "worker closes":
            worker.status.name = "closing"
        elif end == "task is gone":
            worker.state.tasks.clear()
        else:
            worker.task.state = "cancelled"
        assert session.stopping.wait(20)
        sealed(session, task)

    monkeypatch.setattr(remote, "WATCH_S", 0.01)
    monkeypatch.setattr(remote, "run_one", wait)
    assert len(executed(made_tasks(tmp_path))["left"]) == 5


def test_run_without_a_record_says_why(
    worker: Worker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(session: Session, task: Task) -> None:
        session.display.ended(task.label, "failed", "cannot be sealed: disk full", 1)

    monkeypatch.setattr(remote, "run_one", lose)
    answer = executed(made_tasks(tmp_path))
    assert {run["lost"] for run in answer["runs"]} == {"cannot be sealed: disk full"}


def test_progress_is_sent_at_intervals(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(remote, "time", SimpleNamespace(monotonic=lambda: now[0]))
    report = remote.Report(worker, "c", identity="a")
    for now[0] in (100.0, 100.5, 102.5, 103.0, 105.0):
        report.run("label", "run", {"elapsed_ns": 1})
    assert len(worker.sent) == 2
    topic, message = worker.sent[0]
    assert topic == "c" and message["identity"] == "a" and message["stage"] == "run"
