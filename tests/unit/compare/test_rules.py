"""Comparability of two runs: every rule, one by one."""

from __future__ import annotations

import re
from typing import Any

import made
import pytest

from tameshi.compare import CHANGEABLE, RULES, Options, Side, compare, exit_status
from tameshi.compare.rules import Rule, effect
from tameshi.report.words.strings import TEXT

TARGET = "targets//mnt/x/disk"
# Place of each rule's fact, and another value for it.
IN_SPEC: dict[str, tuple[str, Any]] = {
    "storage_size": ("storage/disk/size", "16 MiB"),
    "duration": ("phases/1/until", {"time": "8 s"}),
    "history": ("phases/0/until", {"time": "2 s"}),
    "study": ("study", "other"),
    "seed": ("seed", 77),
    "interval": ("interval", "20 ms"),
    "work": ("start", "cold"),
}
VALUES: dict[str, Any] = {
    "cpus": 9,
    "cores": 5,
    "memory_bytes": 2**35,
    "mount_options": ["rw"],
    "device.size_bytes": 2,
    "device.rotational": 1,
    "device.members": ["sdb"],
    "device.logical_block_bytes": 4096,
    "device.physical_block_bytes": 512,
    "device.requests": 2,
    "device.iostats": 0,
    "device.nomerges": 2,
}


def with_environment(rule: Rule, value: Any) -> Side:
    """Return a measured side with one changed fact."""
    environment = made.changed(made.ENVIRONMENT, "kernel", made.ENVIRONMENT["kernel"])
    target = environment["targets"]["/mnt/x/disk"]
    place = {"environment": environment, "machine": environment["machine"], "target": target}
    place["device"] = target["device"]
    place[rule.of][rule.name] = value
    return made.side(environment=environment)


def changed_side(rule: Rule) -> Side:
    """Return a side that differs from `made.side()` in this rule's fact alone."""
    if rule.key in IN_SPEC:
        return made.side(spec=made.changed(made.SPEC, *IN_SPEC[rule.key]))
    if rule.key == "unknown":
        return Side("B", made.side().results, [])
    if rule.key == "other":
        return made.side(environment=made.ENVIRONMENT | {"moon": "full"})
    return with_environment(
        rule, None if rule.key == "device" else VALUES.get(rule.key, f"other {rule.key}")
    )


MEASURED = [rule for rule in RULES if rule.key not in ("world", "model")]
LEVELS = {"breaks": "incomparable", "confounds": "differences", "minor": "differences"}


@pytest.mark.parametrize("rule", MEASURED, ids=lambda rule: rule.key)
def test_each_rule_has_the_effect_of_its_table(rule: Rule) -> None:
    comparison = compare(made.side(), changed_side(rule))
    result = {s.difference.key: s.difference.effect for s in comparison.differences}
    assert result == {rule.key: effect(rule, modelled=False, one_sided=False, changed=frozenset())}
    assert comparison.level == LEVELS.get(rule.weight, "comparable")
    judged = {j.outcome for j in comparison.judgements}
    assert judged == ({"not_judged"} if rule.weight == "breaks" else {"same"})
    assert exit_status(comparison, "never") == (3 if rule.weight == "breaks" else 0)


@pytest.mark.parametrize(
    "rule", [rule for rule in MEASURED if rule.key != "unknown"], ids=lambda rule: rule.key
)
def test_intended_change_excludes_other_explanations(rule: Rule) -> None:
    for name in CHANGEABLE:
        comparison = compare(made.side(), changed_side(rule), Options(changed=[name]))
        result = [s.difference.effect for s in comparison.differences]
        if rule.weight == "harmless":
            expected = "none"
        elif rule.group == name:
            expected = "question"
        else:
            expected = "breaks" if rule.weight in ("breaks", "confounds") else "may"
        assert result == [expected], name


def test_same_runs_have_no_difference() -> None:
    comparison = compare(made.side(), made.side())
    assert (comparison.level, comparison.because) == ("comparable", "nothing")
    assert comparison.differences == ()
    assert {"work", "kernel", "device.model", "file_system"} <= set(comparison.equal)
    assert "seed" not in comparison.equal


def test_fact_of_one_side_alone_proves_nothing() -> None:
    kernel = next(rule for rule in RULES if rule.key == "kernel")
    comparison = compare(made.side(), with_environment(kernel, None), Options(changed=["device"]))
    assert [s.difference.effect for s in comparison.differences] == ["may"]


def test_changed_stream_setting_is_another_workload() -> None:
    spec = made.changed(made.SPEC, "phases/1/streams/0/stream/block_size", "8 KiB")
    stream = {**made.STREAM, "stream": {**made.STREAM["stream"], "block_size": "8 KiB"}}
    spec = made.changed(made.SPEC, "phases/1/streams", [stream])
    comparison = compare(made.side(), made.side(spec=spec))
    (result,) = comparison.differences
    assert (result.difference.key, result.difference.subject) == ("work", "s.block_size")
    assert (result.difference.a, result.difference.b) == ("4 KiB", "8 KiB")
    assert comparison.level == "incomparable"


def test_only_cells_with_another_workload_are_not_judged() -> None:
    second = made.cell() | {"phase": "q"}
    for one in second["estimates"]:
        one["window"] = "q"
    phase = made.SPEC["phases"][1] | {"name": "q"}
    slow = {**made.STREAM, "stream": {**made.STREAM["stream"], "think_time": "1 ms"}}
    sides = []
    for last in (phase, phase | {"streams": [slow]}):
        spec = made.SPEC | {"phases": [*made.SPEC["phases"], last]}
        sides.append(Side("A", made.results(made.cell(), second), made.runs(spec)))
    comparison = compare(*sides)
    assert (comparison.level, comparison.because) == ("differences", "some_cells")
    outcomes = {(c.phase, j.outcome) for c in comparison.cells for j in c.judgements}
    assert outcomes == {("p", "same"), ("q", "not_judged")}


def test_changed_model_or_core_may_matter_in_simulation() -> None:
    kept = made.SIMULATED_ENVIRONMENT
    a = made.side(made.RATES, made.simulated(), kept)
    device = {"null": {"capacity": {"value": "2 GiB", "source": "x"}}}
    model = {"device": {"profile": "null", "device": device}}
    b = made.side(made.RATES, made.simulated(model=model), kept | {"core": "d"})
    result = {s.difference.key: s.difference.effect for s in compare(a, b).differences}
    assert result == {"model": "may", "core": "may"}
    strict = compare(a, b, Options(changed=["device"]))
    assert {s.difference.key: s.difference.effect for s in strict.differences} == {
        "core": "breaks",
        "model": "question",
    }
    reworded = {"null": {"capacity": {"value": "1 GiB", "source": "in other words"}}}
    same = made.simulated(model={"device": {"profile": "null", "device": reworded}})
    assert compare(a, made.side(made.RATES, same, kept)).differences == ()


def test_worlds_are_compared_only_on_request() -> None:
    a = made.side(made.RATES, made.simulated(), made.SIMULATED_ENVIRONMENT)
    b = made.side()
    apart = compare(a, b)
    assert (apart.level, apart.because, apart.cells) == ("incomparable", "no_world", ())
    asked = compare(a, b, Options(world="simulated:measured"))
    assert (asked.level, asked.because) == ("comparable", "asked")
    assert [s.difference.key for s in asked.differences] == ["world"]
    assert {j.outcome for j in asked.judgements} == {"same"}


def test_cells_of_one_side_alone_are_counted() -> None:
    other = made.cell() | {"levels": {"size": "large"}}
    a, b = made.side(), Side("B", made.results(made.cell(), other), made.runs())
    comparison = compare(a, b)
    assert [len(cells) for cells in comparison.only] == [0, 1]
    nothing = compare(a, Side("B", made.results(other), []))
    assert (nothing.level, nothing.because) == ("incomparable", "no_cells")


def test_every_rule_has_its_words_and_its_row(root) -> None:
    assert [rule.key for rule in RULES if f"fact.{rule.key}" not in TEXT] == []
    page = (root / "docs" / "compare-rules.md").read_text()
    rows = re.findall(r"^\| `([\w.]+)` \| ([^|]*) \| (\w+) \| ([\w ,]+) \|", page, re.M)
    weights = {
        rule.key: rule.weight + (f", simulated {rule.modelled}" if rule.modelled else "")
        for rule in RULES
    }
    labels = {rule.key: TEXT[f"fact.{rule.key}"][0] for rule in RULES}
    expected = [(rule.key, labels[rule.key], rule.group, weights[rule.key]) for rule in RULES]
    assert rows == expected
