"""Measurement windows of phases, derived from events by a pure function."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tameshi.core import compiled
from tameshi.core.reasons import Reason, distinct, reason
from tameshi.core.spec_types import RoundsSpec, RunSpec

Event = Mapping[str, Any]


def windows_of(spec: RunSpec, events: Sequence[Event]) -> list[dict[str, Any]]:
    """Return the window of each phase that got past its ramp, in order of start.

    `spans`: intervals of estimates; for a phase in rounds (its own, or those of its repetition)
    only the last window of rounds. `visits`: every execution, ramp included. `gap_ns`: longest time
    since the end of the previous phase; `idle_ns`: the part of it without outstanding requests of
    that phase. `rounds`: counted rounds and whether they are steady, or null.
    """
    visits = _visits(events)
    windows = []
    for phase, all_visits in visits.items():
        past_ramp = [visit for visit in all_visits if visit["ramped"] is not None]
        if not past_ramp:
            continue
        rounds = _rounds(spec, phase, events, past_ramp)
        spans = _spans(spec, phase, rounds, past_ramp)
        described = spec.phases[phase]
        windows.append(
            {
                "name": described.name,
                "phase": phase,
                "levels": described.levels,
                "phase_begin_ns": all_visits[0]["begin"],
                "begin_ns": spans[0][0] if spans else past_ramp[0]["ramped"],
                "end_ns": spans[-1][1] if spans else past_ramp[0]["ramped"],
                "ended_by": all_visits[-1]["ended_by"],
                "spans": spans,
                "visits": [[visit["begin"], visit["end"]] for visit in all_visits],
                "gap_ns": max(visit["gap"] for visit in all_visits),
                "idle_ns": max(visit["idle"] for visit in all_visits),
                "rounds": rounds,
            }
        )
    return windows


def completed(window: dict[str, Any]) -> dict[str, Any]:
    """Upgrade a window of an older record to the current form."""
    window.setdefault("spans", [[window["begin_ns"], window["end_ns"]]])
    window.setdefault("visits", [[window["phase_begin_ns"], window["end_ns"]]])
    window.setdefault("rounds", None)
    return window


def unsettled(windows: Iterable[Mapping[str, Any]]) -> list[Reason]:
    """Return why a run's figures are not steady, as reasons of a verdict."""
    return distinct(reason for window in windows if (reason := unsettled_in(window)))


def unsettled_in(window: Mapping[str, Any]) -> Reason | None:
    """Return the same for one window; None if it is steady or has no rounds."""
    rounds = window["rounds"]
    if not rounds or rounds["attained"] is not False:
        return None
    if rounds["judged"]:
        return reason("unsettled", window["name"], rounds=rounds["made"])
    return reason("unsettled_early", window["name"])


def _visits(events: Sequence[Event]) -> dict[int, list[dict[str, Any]]]:
    """Return each execution of each phase; one that was cut short ends with the last event."""
    visits: dict[int, list[dict[str, Any]]] = {}
    last_ns = events[-1]["t_ns"] if events else 0
    number = 0
    order: list[dict[str, Any]] = []
    leaving: dict[int, deque[dict[str, Any]]] = defaultdict(deque)
    for event in events:
        kind = event["kind"]
        if kind == "round_begin":
            number = event["round"]
        elif kind == "phase_begin":
            visit = {"begin": event["t_ns"], "ramped": None, "end": last_ns, "ended_by": None}
            visit |= {"round": number, "drained": None}
            visits.setdefault(event["phase"], []).append(visit)
            order.append(visit)
        elif kind == "phase_ramped":
            visits[event["phase"]][-1]["ramped"] = event["t_ns"]
        elif kind == "phase_end":
            visit = visits[event["phase"]][-1]
            visit |= {"end": event["t_ns"], "ended_by": event["ended_by"]}
            leaving[event["phase"]].append(visit)
        elif kind == "phase_drained" and leaving[event["phase"]]:
            # Its last requests may complete after the start of the next phase.
            leaving[event["phase"]].popleft()["drained"] = event["t_ns"]
    for before, visit in zip([None, *order], order, strict=False):
        gap = visit["begin"] - before["end"] if before else 0
        drained = before["drained"] if before else None
        idle = gap if drained is None else min(max(visit["begin"] - drained, 0), max(gap, 0))
        visit |= {"gap": gap, "idle": idle}
    return visits


def _rounds(
    spec: RunSpec, phase: int, events: Sequence[Event], visits: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """Return the executed rounds, the counted ones, and their findings; None without rounds."""
    place = next((i for i, r in enumerate(spec.rounds or []) if _holds(r, phase)), None)
    if place is None:
        rule = spec.phases[phase].until.steady
        scope: dict[str, int] = {"phase": phase}
    else:
        rule = (spec.rounds or [])[place].steady
        scope = {"rounds": place}
        if rule is None:
            numbers = [visit["round"] for visit in visits if visit["ended_by"]]
            made = max(numbers, default=0)
            return _window_rounds(made, min(numbers, default=1), made, None, phase, [], [])
    if rule is None:
        return None
    ((key, value),) = scope.items()
    rounds = [e for e in events if e["kind"] == "round" and e.get(key) == value]
    verdicts = [e["steady"] for e in events if e["kind"] == "steady" and e.get(key) == value]
    made = len(rounds)
    if verdicts:
        last = verdicts[-1]
        attained, checks = last["attained"], last["checks"]
        return _window_rounds(made, last["first"], last["last"], attained, phase, rounds, checks)
    # The phase ended before a verdict on its rounds; enough of them were judged.
    window = rule.rounds or 5
    checks = [] if made >= window else None
    return _window_rounds(made, max(made - window + 1, 1), made, False, phase, rounds, checks)


def _window_rounds(
    made: int,
    first: int,
    last: int,
    attained: bool | None,
    phase: int,
    rounds: Sequence[Event],
    checks: Sequence[Mapping[str, Any]] | None,
) -> dict[str, Any]:
    """Return the rounds in the record's form, with values and checks of this phase's own
    streams."""
    values = [
        {"round": event["round"], **{k: v for k, v in value.items() if k != "phase"}}
        for event in rounds
        for value in event["values"]
        if value["phase"] == phase
    ]
    own = [
        {"stream": check["stream"], "variable": check["variable"], **check["found"]}
        for check in checks or ()
        if check["phase"] == phase
    ]
    return {
        "made": made,
        "first": first,
        "last": last,
        "attained": attained,
        "judged": checks is not None,
        "checks": own,
        "values": values,
    }


def _holds(rounds: RoundsSpec, phase: int) -> bool:
    return rounds.first <= phase < rounds.first + rounds.phases


def _spans(
    spec: RunSpec,
    phase: int,
    rounds: Mapping[str, Any] | None,
    visits: Sequence[Mapping[str, Any]],
) -> list[list[int]]:
    if rounds is None:
        return [[visits[0]["ramped"], visits[0]["end"]]]
    rule = spec.phases[phase].until.steady
    if rule is not None and rule.round is not None:
        if rounds["made"] == 0:
            return []
        ramped, length = visits[0]["ramped"], compiled.nanoseconds(rule.round)
        return [[ramped + (rounds["first"] - 1) * length, ramped + rounds["last"] * length]]
    inside = [v for v in visits if rounds["first"] <= v["round"] <= rounds["last"]]
    return [[visit["ramped"], visit["end"]] for visit in inside]
