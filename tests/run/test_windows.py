"""Windows from events alone: what lies between the phases of a run."""

from tameshi.paths import STUDIES
from tameshi.study import plan, read_study
from tameshi.windows import windows_of


def test_what_completes_after_the_next_phase_has_begun_leaves_no_idle_time():
    spec, *_ = plan(read_study(STUDIES / "pts-xsr.toml"), "simulated", quick=False).runs
    times = [
        ("phase_begin", 0, 0),
        ("phase_end", 0, 100),
        ("phase_begin", 1, 100),
        ("phase_end", 1, 200),
        ("phase_drained", 0, 104),
        ("phase_begin", 2, 203),
        ("phase_drained", 1, 201),
        ("phase_end", 2, 300),
        ("phase_drained", 2, 300),
        ("phase_begin", 3, 309),
        ("phase_end", 3, 400),
    ]
    events = [{"kind": kind, "phase": phase, "t_ns": t} for kind, phase, t in times]
    for event in list(events):
        if event["kind"] == "phase_begin":
            events.insert(events.index(event) + 1, {**event, "kind": "phase_ramped"})
        elif event["kind"] == "phase_end":
            event["ended_by"] = "time"
    found = [(w["gap_ns"], w["idle_ns"]) for w in windows_of(spec, events)]
    assert found == [(0, 0), (0, 0), (3, 2), (9, 9)]
