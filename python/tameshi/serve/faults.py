"""Faults of a served stack, as far as it can have them: members, power cuts, delays, content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from tameshi.core.errors import RunFailed
from tameshi.serve.plans import ServePlan

REFUSED = {
    "member_alive": "it has not failed: fail it first",
    "data_lost": "too many members have failed, and its data are lost",
    "nothing_to_replace": "this storage has no members to replace",
}
"""Refusals of a replacement, by the code of the reason."""

CORRUPTION_REFUSED = {
    "unaligned": "offset and length are multiples of 512 bytes, and the length is not 0",
    "beyond": "this range ends after the drive, which has {capacity_bytes:,} bytes",
    "full": "what was never written takes room, and the drive's data have too little left: choose "
    "a smaller range, or serve it with more --memory",
}
"""Refusals of a corruption, by their codes."""


MIRROR_REFUSED = {
    "no_other_side": "there is no far side: serve a storage with `replica`; after a failover, take "
    "the lost side back first",
    "not_up_to_date": "the far side has not received all that it lacks: wait for the end of its "
    "resync (`status`: `mirror`)",
    "no_lost_side": "no side is lost: it comes back only after a failover",
}
"""Refusals of a block mirror, by their codes."""


class Served(Protocol):
    """Served stack that takes messages."""

    @property
    def plan(self) -> ServePlan:
        """Return its plan."""

    def ask(self, message: str) -> dict[str, Any]:
        """Send its server a message; return the answer."""


def change_member(drive: Served, word: str, member: int) -> Mapping[str, Any]:
    """Fail or replace a member; return the states of all members. Raises `RunFailed` if refused."""
    drives = drive.plan.drives
    if drive.plan.is_mirror:
        raise RunFailed("drives of a block mirror do not fail; serve an array without a mirror")
    if drives == 1:
        raise RunFailed("a drive alone has no members; serve an array, or cut its power")
    if member not in range(drives):
        raise RunFailed(f"this stack has no member {member}, only 0 to {drives - 1}")
    answer = drive.ask(f"{word} {member}")
    if answer.get("missed"):
        code = answer["missed"]["code"]
        raise RunFailed(f"member {member} cannot be replaced: {REFUSED.get(code, code)}")
    if answer.get("was_alive") is False:
        raise RunFailed(f"member {member} has failed already")
    return dict(drive.ask("status")["members"])


def change_mirror(drive: Served, message: str) -> dict[str, Any]:
    """Send a message to a block mirror; return the answer. Raises `RunFailed` if refused."""
    answer = drive.ask(message)
    missed = answer.pop("missed", None)
    if missed:
        raise RunFailed(MIRROR_REFUSED.get(missed["code"], missed["code"]))
    return answer


def slow_down(drive: Served, message: str) -> Mapping[str, Any]:
    """Slow a drive down, or end that; return its factor and the time left."""
    drive.ask(message)
    return dict(drive.ask("status")["slowdown"])


def corrupt(drive: Served, message: str) -> Mapping[str, Any]:
    """Corrupt a range of a drive; return it, with all that is corrupt. Raises `RunFailed`."""
    answer = drive.ask(message)
    if answer["refused"]:
        sentence = CORRUPTION_REFUSED[answer["refused"]]
        raise RunFailed(sentence.format_map(drive.ask("status")))
    _, kind, offset, length = message.split()
    place = {"kind": kind, "offset_bytes": int(offset), "length_bytes": int(length)}
    return {**place, **answer["corruption"]}


def refuse_unnamed_losses(plan: ServePlan) -> None:
    """Raise `RunFailed` if the model does not name what a power cut takes from a stack."""
    if plan.drives > 1 and plan.is_volatile:
        raise RunFailed(
            "the drives of this stack have volatile buffers, and what an array of them loses is "
            "not known yet; serve one drive, or drives with power-loss protection"
        )
