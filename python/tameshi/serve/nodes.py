"""Stacks of drives as a run's spec has them: `{"raid1": {"members": 2, "of": …}}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tameshi.core.errors import BadInput

Node = Mapping[str, Any]


def drive_in(node: Node) -> Mapping[str, Any]:
    """Return the drive that a stack is made of, as `{model: values}`."""
    ((kind, inner),) = node.items()
    return dict(inner["device"]) if kind == "device" else drive_in(inner["of"])


def profile_of(node: Node) -> str:
    """Return the name of the drives' profile."""
    ((kind, inner),) = node.items()
    return str(inner["profile"]) if kind == "device" else profile_of(inner["of"])


def described(node: Node) -> str:
    """Return a phrase on a stack: `raid10 of 6 sas-15k-146gb`."""
    ((kind, inner),) = node.items()
    if kind == "device":
        return str(inner["profile"])
    members = f"{inner['members']} " if "members" in inner else ""
    return f"{kind} of {members}{described(inner['of'])}"


def has_volatile_cache(node: Node) -> bool:
    """Return whether a controller's cache in the stack loses its content at a power cut."""
    ((kind, inner),) = node.items()
    if kind == "device":
        return False
    volatile = kind == "cache" and inner["cache"]["kind"] == "volatile"
    return volatile or has_volatile_cache(inner["of"])


def without_capacitor(node: Node) -> dict[str, Any]:
    """Return a stack whose flash drives have no power-loss protection.

    Raises `BadInput` if they have none.
    """
    ((kind, inner),) = node.items()
    if kind != "device":
        return {kind: {**inner, "of": without_capacitor(inner["of"])}}
    flash = inner["device"].get("flash", {})
    buffer = flash.get("buffer", {})
    if not buffer.get("power_loss_protection"):
        raise BadInput(
            "this drive has no capacitor",
            where="--without-capacitor",
            found=str(inner["profile"]),
            accepted=["flash drives with power-loss protection"],
        )
    kept = {key: value for key, value in buffer.items() if key != "power_loss_protection"}
    return {"device": {**inner, "device": {"flash": {**flash, "buffer": kept}}}}


def state_of(node: Node) -> str:
    """Return a phrase on the declared state of flash drives; empty for new ones."""
    flash = drive_in(node).get("flash", {})
    simulated = flash.get("simulated", {})
    written = simulated.get("written", "never")
    parts = {"never": [], "once": ["written once"], "steady": ["in steady state"]}[written]
    if simulated.get("worn_percent") is not None:
        parts = [*parts, f"worn by {simulated['worn_percent']} %"]
    if simulated.get("dead_channels"):
        parts = [*parts, f"{simulated['dead_channels']} channels of each controller failed"]
    return ", ".join(parts)
