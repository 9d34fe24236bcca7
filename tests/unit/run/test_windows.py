"""Windows from events alone: gaps between phases of a run."""

from types import SimpleNamespace

from tameshi.analysis.deviations import ledger
from tameshi.core.data import STUDIES
from tameshi.core.reasons import quoted, reason
from tameshi.record.phases import unsettled, windows_of
from tameshi.study.file import plan, read_study


def test_completion_in_next_phase_leaves_no_idle_time():
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


def test_saturation_by_amount_has_no_steady_state_or_deviation():
    spec, *_ = plan(read_study(STUDIES / "pts-wsat.toml"), "simulated", quick=False).runs
    for rounds, result in [
        (3, reason("unsettled_early", "saturate")),
        (6, reason("unsettled", "saturate", rounds=6)),
    ]:
        events = [{"kind": kind, "phase": 0, "t_ns": 0} for kind in ("phase_begin", "phase_ramped")]
        events += [{"kind": "round", "phase": 0, "t_ns": n, "values": []} for n in range(rounds)]
        events.append({"kind": "phase_end", "phase": 0, "t_ns": 100, "ended_by": "amount"})
        windows = windows_of(spec, events)
        assert unsettled(windows) == [result]
        run = SimpleNamespace(
            spec=spec,
            environment={},
            outcome={"windows": windows, "verdict": {"reasons": [result, quoted("other")]}},
        )
        study = plan(read_study(STUDIES / "pts-wsat.toml"), "simulated", quick=False).study
        found = ledger(study, [run])["deviations"]
        assert result not in found and quoted("other") in found
