"""Faults of a cluster: no run is lost, none is made twice, and each fault is reported."""

from __future__ import annotations

import errno
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from fake_cluster import FIRST, SECOND, Answer, FakeClient, FakeFuture
from rich.console import Console
from sealing import made_tasks

from tameshi import guard
from tameshi.cluster import collector, remote
from tameshi.cluster.collector import ATTEMPTS, Cluster
from tameshi.cluster.members import Members
from tameshi.core.errors import RunFailed
from tameshi.record import store
from tameshi.run.dispatcher import Session
from tameshi.run.display import PlainDisplay
from tameshi.run.tasks import Task

RUNS = 6
OTHER = {"version": "0.0.9", "core": "f" * 64, "record": 2}


class Study:
    """Study folder, the runs that remain, and what the terminal shows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tasks = made_tasks(folder)
        self.results = folder / "results"
        guard.claim_folder(self.results)
        self.output = io.StringIO()
        display = PlainDisplay(Console(file=self.output, width=500))
        display.begin(RUNS, 0, None)
        self.session = Session(self.results, -1, display, lambda: None)

    def client(self, *answers: Answer) -> FakeClient:
        """Return a client whose batches are answered so."""
        return FakeClient(self.folder, self.tasks, list(answers))

    def run(self, client: FakeClient) -> str:
        """Make all runs; return what was reported."""
        members = Members(client)
        refused = members.refresh()
        Cluster(client, members, refused).run(self.session, self.tasks)
        return self.said

    @property
    def said(self) -> str:
        return self.output.getvalue()

    def statuses(self) -> list[str]:
        """Return the status of each run that has a record or a mark."""
        runs = (store.read_run(self.place(task)) for task in self.tasks)
        return [run.outcome["status"] for run in runs if run]

    def place(self, task: Task) -> Path:
        return store.run_folder(self.results, task.identity)

    def assert_complete(self) -> None:
        """Each run has one record, and was reported once."""
        assert self.statuses() == ["complete"] * RUNS
        assert [self.said.count(f"{task.label}: complete") for task in self.tasks] == [1] * RUNS


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    for name in ("POLL_S", "LOOK_AGAIN_S", "STOP_S"):
        monkeypatch.setattr(collector, name, 0.01)
    return Study(tmp_path)


def finish(future: FakeFuture) -> None:
    future.finish()


def hang(_future: FakeFuture) -> None:
    """Answer nothing."""


def identities(batches: Sequence[FakeFuture]) -> list[str]:
    return [identity for batch in batches for identity in batch.identities]


def test_runs_of_a_healthy_cluster_are_handed_out_once(study: Study) -> None:
    client = study.client(finish)
    assert "cluster at tcp://10.0.0.9:8786: 2 workers, 2 threads" in study.run(client)
    study.assert_complete()
    assert sorted(identities(client.batches)) == sorted(task.identity for task in study.tasks)
    assert client.handlers == {} and all(batch.workers is None for batch in client.batches)
    assert len(client.released) == 1


def test_runs_that_a_batch_leaves_are_handed_out_again(study: Study) -> None:
    def leave_all_but_one(future: FakeFuture) -> None:
        first, *left = future.identities
        future.finish(runs=[future.client.record(first)], left=left)

    client = study.client(leave_all_but_one)
    study.run(client)
    study.assert_complete()
    assert len(client.batches) == RUNS


def test_lost_worker_is_reported_with_its_runs(study: Study) -> None:
    def lose(future: FakeFuture) -> None:
        keys = {future.key, "somebody-elses"}
        gone = {"action": "remove-worker", "worker": SECOND, "lost-computed-tasks": set()}
        future.client.publish({**gone, "processing-tasks": keys})
        future.finish()  # Dask itself gives the batch to another worker.

    said = study.run(study.client(lose, finish))
    study.assert_complete()
    assert f"worker {SECOND} is gone: " in said and "that it had go to others" in said


def test_worker_with_another_core_is_refused_at_the_start(study: Study) -> None:
    client = study.client(finish)
    client.descriptions[SECOND] = OTHER
    said = study.run(client)
    study.assert_complete()
    assert {tuple(batch.workers or ()) for batch in client.batches} == {(FIRST,)}
    assert f"worker {SECOND} gets no runs: it has Tameshi 0.0.9 with core ffffffffffff" in said
    assert "install the Tameshi of this machine there" in said


def test_worker_with_another_core_is_refused_in_the_middle(study: Study) -> None:
    def refuse(future: FakeFuture) -> None:
        future.end("finished", {"worker": SECOND, "runs": [], "left": [], "refused": OTHER})

    client = study.client(refuse, finish)
    said = study.run(client)
    study.assert_complete()
    assert said.count("gets no runs") == 1
    assert client.batches[-1].workers == [FIRST]


def test_cluster_without_a_usable_worker_fails_with_reasons(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collector, "ALONE_S", 0.05)

    def refuse(future: FakeFuture) -> None:
        future.client.workers = {SECOND: 1}
        future.end("finished", {"worker": SECOND, "runs": [], "left": [], "refused": OTHER})

    with pytest.raises(RunFailed, match=r"no worker .* can make runs\. Found: it has Tameshi"):
        study.run(study.client(refuse))


def test_worker_without_tameshi_is_refused(study: Study) -> None:
    client = study.client(finish)
    client.descriptions[SECOND] = ModuleNotFoundError("No module named 'tameshi'")
    assert "Tameshi cannot be loaded there (ModuleNotFoundError" in study.run(client)
    study.assert_complete()


def test_restarted_scheduler_gets_the_runs_again(study: Study) -> None:
    def restart(future: FakeFuture) -> None:
        client = future.client
        client.status = "connecting"
        client.handlers.clear()
        for batch in client.batches:
            batch.end("cancelled")
        client.status = "running"

    client = study.client(hang, restart, finish)
    said = study.run(client)
    study.assert_complete()
    assert said.count("the connection to the scheduler is lost: ") == 1
    assert "the scheduler answers again" in said
    assert len({batch.key for batch in client.batches}) == len(client.batches)


def test_gone_scheduler_fails_with_remedy(study: Study) -> None:
    def close(future: FakeFuture) -> None:
        future.client.batches[0].finish()
        future.client.status = "closed"

    with pytest.raises(RunFailed, match=r"scheduler of the cluster is gone.*the same command"):
        study.run(study.client(hang, close))
    assert study.statuses() == ["complete"] * len(study.statuses())


def test_no_worker_left_is_reported_once(study: Study) -> None:
    def leave(future: FakeFuture) -> None:
        client = future.client
        client.workers.clear()
        client.publish({"action": "add-worker", "worker": "x"})
        seen.append(future)

    seen: list[FakeFuture] = []
    say = study.session.display.say

    def answered(line: str) -> None:
        say(line)
        if line.startswith("no worker is left that"):
            seen[0].client.workers[FIRST] = 1
            for future in seen:
                future.finish()

    study.session.display.say = answered  # type: ignore[method-assign]
    assert "no worker is left that can make runs: waiting" in study.run(study.client(leave))
    study.assert_complete()


def test_damaged_record_is_made_again(study: Study) -> None:
    def damage(future: FakeFuture) -> None:
        runs = [future.client.record(identity) for identity in future.identities]
        runs[0]["files"]["spec.json"] = b"x"
        future.finish(runs=runs)

    client = study.client(damage, finish)
    said = study.run(client)
    study.assert_complete()
    assert f"damaged record from worker {FIRST}" in said and "it is made again" in said


def test_run_without_a_record_fails_after_some_attempts(study: Study) -> None:
    def lose(future: FakeFuture) -> None:
        runs = [
            {"identity": each, "took_s": 1.0, "lost": "disk full"} for each in future.identities
        ]
        future.finish(runs=runs)

    client = study.client(lose)
    said = study.run(client)
    assert len(identities(client.batches)) == RUNS * ATTEMPTS
    for task in study.tasks:
        assert f"{task.label}: failed: no record from worker {FIRST}: disk full" in said
        lost = store.read_lost(study.results, task.identity)
        assert lost is not None and lost.outcome["status"] == "failed"


def test_partial_run_of_an_ending_worker_is_made_again(study: Study) -> None:
    def part(future: FakeFuture) -> None:
        runs = [future.client.record(each, "partial") for each in future.identities]
        future.finish(runs=runs)

    assert f"worker {FIRST} stopped it: it is made again" in study.run(study.client(part, finish))
    study.assert_complete()


def test_batch_that_kills_workers_is_divided(study: Study) -> None:
    from distributed.scheduler import KilledWorker

    bad = study.tasks[0].identity

    def kill(future: FakeFuture) -> None:
        if bad in future.identities:
            last: Any = type("Worker", (), {"address": FIRST})()
            future.end("error", KilledWorker(future.key, last, 3))
        else:
            future.finish()

    client = study.client(kill)
    client.workers = {FIRST: 1}
    said = study.run(client)
    assert len(client.batches[0].identities) > 1
    assert study.statuses() == ["complete"] * (RUNS - 1)
    assert f"{study.tasks[0].label}: failed: several workers ended while they made it" in said


def test_error_of_a_batch_is_tried_again(study: Study) -> None:
    client = study.client(lambda future: future.end("error", OSError("no scratch")), finish)
    assert "OSError: no scratch: it is made again" in study.run(client)
    study.assert_complete()


def test_late_batch_is_given_to_a_second_worker(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collector, "LATE_S", 0.05)
    monkeypatch.setattr(collector, "LATE_FACTOR", 0.0)

    def begin(future: FakeFuture) -> None:
        number = int(future.key.rpartition("-")[2])
        future.client.publish({"kind": "began", "number": number, "worker": FIRST})

    client = study.client(begin, finish)
    said = study.run(client)
    study.assert_complete()
    assert f"worker {FIRST} is slow: " in said and "the first record counts" in said
    assert client.batches[-1].workers == [SECOND]
    assert client.cancelled == [client.batches[0].key]


def test_second_record_of_a_run_is_dropped(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector, "LATE_S", 0.05)
    monkeypatch.setattr(collector, "LATE_FACTOR", 0.0)

    def begin(future: FakeFuture) -> None:
        number = int(future.key.rpartition("-")[2])
        future.client.publish({"kind": "began", "number": number, "worker": FIRST})

    def both(future: FakeFuture) -> None:
        future.finish()
        if future.workers:
            future.client.batches[0].finish(SECOND)

    study.run(study.client(begin, both))
    study.assert_complete()


def test_full_disk_ends_the_study_with_remedy(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(folder: Path, *_: Any, synced: bool) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(folder))

    monkeypatch.setattr(collector, "stored", full)
    client = study.client(finish, hang)
    with pytest.raises(RunFailed, match=r"No space left.*Make room; the same command resumes"):
        study.run(client)
    assert study.statuses() == [] and client.cancelled


def test_stop_keeps_partial_runs_and_begins_no_more(study: Study) -> None:
    def stop(future: FakeFuture) -> None:
        study.session.stop()
        first, *left = future.identities
        future.finish(runs=[future.client.record(first, "partial")], left=left)

    client = study.client(stop)
    study.run(client)
    assert study.statuses() == ["partial"] * len(client.batches)


def test_stop_is_requested_until_workers_answer(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collector, "STOP_S", 0.01)
    pending: list[FakeFuture] = []

    def stop(future: FakeFuture) -> None:
        study.session.stop()
        pending.append(future)
        run = future.client.run

        def asked(function: Any, *given: Any, **options: Any) -> Any:
            if function is remote.stop and len(future.client.stops) == 2:
                for each in pending:
                    each.finish(runs=[], left=each.identities)
            return run(function, *given, **options)

        future.client.run = asked  # type: ignore[method-assign]

    client = study.client(stop)
    study.run(client)
    assert len(client.stops) >= 2 and study.statuses() == []


def test_hanging_worker_does_not_delay_a_stop(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collector, "GIVE_UP_S", 0.05)

    def stop(_future: FakeFuture) -> None:
        study.session.stop()

    client = study.client(stop)
    study.run(client)
    assert study.statuses() == [] and client.cancelled
