"""Power cuts during writes in results.json: counts by run, of both worlds."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from tameshi.analysis.power_cuts import power_cuts
from tameshi.core.spec_types import Event
from tameshi.record.store import SealedRun

CUT = {"at": "1 s", "power_cut": {"storage": "disk", "during_write": "16 KiB"}}


def run(*events: dict[str, Any], event: dict[str, Any] = CUT) -> SealedRun:
    """Return a run of one phase with these events."""
    window = {"phase": 0, "name": "run", "visits": [[0, 100]]}
    spec = SimpleNamespace(repetition=2, events={"cut": Event.model_validate(event)})
    made = SimpleNamespace(spec=spec, outcome={"windows": [window]}, events=lambda: list(events))
    return cast(SealedRun, made)


def cut(kind: str, at_ns: int, torn: int, storage: str = "disk") -> dict[str, Any]:
    return {"kind": kind, "t_ns": at_ns, "storage": storage, "torn_writes": torn}


def crash(at_ns: int) -> dict[str, Any]:
    return {"kind": "crash", "t_ns": at_ns, "how": "power_cut", "event": "cut"}


def checked(at_ns: int, broken: int, by_tool: int | None) -> dict[str, Any]:
    counts = {"pages": 100, "broken": broken, "broken_by_tool": by_tool}
    return {"kind": "pages_checked", "t_ns": at_ns} | counts


def test_served_cuts_count_drives_once_and_failed_starts() -> None:
    first = [cut("drive_cut", 10, 1), cut("drive_cut", 10, 2, "log"), checked(11, 0, 0), crash(10)]
    last = [cut("drive_cut", 50, 1), checked(51, 2, 2)]
    (found,) = power_cuts([run(*first, *last)], 0)["power_cuts"]
    assert found == {
        **{"repetition": 2, "cuts": 2, "torn_cuts": 2, "torn_writes": 4, "starts": 1},
        **{"broken_cuts": 1, "broken": 2, "broken_by_tool": 2},
    }


def test_simulated_pages_beyond_repair_are_failed_starts() -> None:
    reason = {"code": "pages_torn", "subject": "", "values": {"count": 3}}
    finding = {"kind": "finding", "t_ns": 10, "level": "invalid", "reasons": [reason]}
    events = [cut("power_cut", 10, 3), finding, crash(10), cut("power_cut", 50, 0), crash(50)]
    (found,) = power_cuts([run(*events)], 0)["power_cuts"]
    counts = (found["cuts"], found["torn_cuts"], found["starts"], found["broken"])
    assert counts == (2, 1, 1, 3) and found["broken_by_tool"] is None


def test_cut_that_waits_for_no_write_is_left_out() -> None:
    plain = {"at": "1 s", "power_cut": {"storage": "disk"}}
    assert power_cuts([run(cut("drive_cut", 10, 1), event=plain)], 0) == {}
    assert power_cuts([run()], 0) == {}
