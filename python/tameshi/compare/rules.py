"""tidy: table. What a difference between two runs means for comparing them, rule by rule.

`docs/compare-rules.md` shows this table; a test keeps the two alike. The words that a reader
sees stand with the report's strings, under `fact.KEY`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Group = Literal["world", "work", "device", "machine", "software", "settings", "record"]
Weight = Literal["breaks", "confounds", "minor", "harmless"]
Effect = Literal["breaks", "question", "may", "none"]

CHANGEABLE = ("work", "device", "machine", "software", "settings")
"""What `--changed` may name as the thing that was changed on purpose."""
EFFECTS: tuple[Effect, ...] = ("breaks", "question", "may", "none")
"""The gravest first."""


@dataclass(frozen=True)
class Rule:
    """One kind of fact. `weight`: what a difference in it means; `modelled`: in a modelled world.

    `of`: where it stands. A key is its name in environment.json, there within the machine's or a
    target's part; that of a target's device begins with `device.`.
    """

    key: str
    group: Group
    weight: Weight
    modelled: Weight | None = None
    of: Literal["spec", "environment", "machine", "target", "device"] = "environment"

    @property
    def name(self) -> str:
        """The fact's name where it stands."""
        return self.key.removeprefix("device.")


RULES = (
    # what was asked for
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
    # what it ran on
    Rule("core", "software", "minor", modelled="confounds"),
    Rule("tameshi", "software", "minor"),
    Rule("python", "software", "harmless"),
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
    # whatever else an environment tells, by its own name
    Rule("other", "settings", "minor"),
)
BY_KEY = {rule.key: rule for rule in RULES}


def effect(rule: Rule, *, modelled: bool, one_sided: bool, changed: frozenset[str]) -> Effect:
    """What a difference does to a comparison.

    `changed`: the groups changed on purpose. With any, a difference elsewhere that alone could
    explain the result makes the two incomparable; without, it is only told. `one_sided`: the fact
    is known on one side alone, which proves no difference.
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
