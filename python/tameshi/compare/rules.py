"""tidy: table. Effect of differences between two runs on their comparison, rule by rule.

`docs/compare-rules.md` shows this table with reasons; a test keeps the two equal. The report's
strings hold the labels, under `fact.KEY`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Group = Literal["world", "work", "device", "machine", "software", "settings", "record"]
Weight = Literal["breaks", "confounds", "minor", "harmless"]
Effect = Literal["breaks", "question", "may", "none"]

CHANGEABLE = ("work", "device", "machine", "software", "settings")
"""Groups that `--changed` accepts as an intended change."""
EFFECTS: tuple[Effect, ...] = ("breaks", "question", "may", "none")
"""Effects, most serious first."""


@dataclass(frozen=True)
class Rule:
    """Rule for one kind of fact. `weight`: effect of a difference; `modelled`: in a modelled world.

    `of`: its place. A key is its name in environment.json, within the machine's or a target's part;
    keys of a target's device begin with `device.`.
    """

    key: str
    group: Group
    weight: Weight
    modelled: Weight | None = None
    of: Literal["spec", "environment", "machine", "target", "device"] = "environment"

    @property
    def name(self) -> str:
        """Name of the fact at its place."""
        return self.key.removeprefix("device.")


RULES = (
    # workload
    Rule("world", "world", "breaks", of="spec"),
    Rule("work", "work", "breaks", of="spec"),
    Rule("storage_size", "work", "breaks", of="spec"),
    Rule("duration", "work", "minor", of="spec"),
    Rule("history", "work", "minor", of="spec"),
    Rule("study", "work", "minor", of="spec"),
    Rule("unknown", "work", "minor", of="spec"),
    Rule("model", "device", "confounds", of="spec"),
    Rule("seed", "record", "harmless", of="spec"),
    Rule("interval", "record", "harmless", of="spec"),
    # environment
    Rule("core", "software", "minor", modelled="confounds"),
    Rule("tameshi", "software", "minor"),
    Rule("python", "software", "harmless"),
    Rule("tool", "software", "confounds"),
    Rule("kernel", "software", "confounds"),
    Rule("architecture", "machine", "confounds", of="machine"),
    Rule("cpu_model", "machine", "confounds", of="machine"),
    Rule("cpus", "machine", "confounds", of="machine"),
    Rule("cores", "machine", "confounds", of="machine"),
    Rule("memory_bytes", "machine", "confounds", of="machine"),
    Rule("governor", "settings", "confounds", of="machine"),
    Rule("file_system", "settings", "confounds", of="target"),
    Rule("mount_options", "settings", "confounds", of="target"),
    Rule("partition", "device", "minor", of="target"),
    Rule("mount_source", "record", "harmless", of="target"),
    Rule("mount_point", "record", "harmless", of="target"),
    Rule("real_path", "record", "harmless", of="target"),
    Rule("device", "device", "confounds", of="target"),
    Rule("device.model", "device", "confounds", of="device"),
    Rule("device.firmware", "device", "confounds", of="device"),
    Rule("device.size_bytes", "device", "confounds", of="device"),
    Rule("device.rotational", "device", "confounds", of="device"),
    Rule("device.virtual", "device", "confounds", of="device"),
    Rule("device.members", "device", "confounds", of="device"),
    Rule("device.logical_block_bytes", "device", "confounds", of="device"),
    Rule("device.physical_block_bytes", "device", "confounds", of="device"),
    Rule("device.serial", "device", "minor", of="device"),
    Rule("device.backing_file", "device", "minor", of="device"),
    Rule("device.name", "record", "harmless", of="device"),
    Rule("device.scheduler", "settings", "confounds", of="device"),
    Rule("device.write_cache", "settings", "confounds", of="device"),
    Rule("device.requests", "settings", "confounds", of="device"),
    Rule("device.nomerges", "settings", "confounds", of="device"),
    Rule("device.iostats", "record", "harmless", of="device"),
    # other facts of an environment, by their own names
    Rule("other", "settings", "minor"),
)
BY_KEY = {rule.key: rule for rule in RULES}


def effect(rule: Rule, *, modelled: bool, one_sided: bool, changed: frozenset[str]) -> Effect:
    """Return the effect of a difference on a comparison.

    `changed`: groups of intended changes. With any, a difference elsewhere that could explain the
    result makes the two incomparable; without, it is reported only. `one_sided`: one side alone
    knows the fact, which proves no difference.
    """
    weight = rule.modelled if modelled and rule.modelled else rule.weight
    if weight == "harmless":
        return "none"
    if rule.group in changed:
        return "question"
    strict = bool(changed & set(CHANGEABLE))
    if one_sided or weight == "minor" or (weight == "confounds" and not strict):
        return "may"
    return "breaks"
