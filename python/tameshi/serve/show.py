"""Words of a served drive: its description, its live line, the result of a power cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tameshi.core import compiled
from tameshi.core.units import format_value
from tameshi.guard import size_text
from tameshi.serve.plans import ServePlan

KINDS = ("read", "write", "flush", "trim")
SHORT_SHARE = 0.05
"""Share of answers below the path's time from which a warning tells it."""
PLURALS = {"read": "reads", "write": "writes", "flush": "flushes", "trim": "trims"}


def drive_text(plan: ServePlan, status: Mapping[str, Any], places: Mapping[str, Path]) -> list[str]:
    """Return lines on a drive that is ready."""
    size = size_text(status["capacity_bytes"])
    whole = size_text(plan.capacity_bytes)
    of = "" if status["capacity_bytes"] >= plan.capacity_bytes // 512 * 512 else f" of {whole}"
    lines = [f"{plan.profile}: {size}{of}, {plan.description}"]
    lines += [f"{kind}: {path}" for kind, path in places.items()]
    if plan.nbd:
        lines.append(f"address: {plan.nbd.uri}")
    if plan.store:
        lines.append(f"data: up to {size_text(status['limit_bytes'])} in {plan.store}")
    door = {"ring": "FUSE over io_uring", "plain": "plain FUSE", "nbd": "NBD"}[status["door"]]
    offset = format_value("latency", status["offset_ns"])
    lines.append(f"path: {door}; its {offset} per request are taken off the modelled latencies")
    return [*lines, *warnings(plan, status)]


def warnings(plan: ServePlan, status: Mapping[str, Any]) -> list[str]:
    """Return sentences on what this drive does not do as its profile says."""
    found = []
    if plan.lies:
        found.append("warning: this drive acknowledges flushes at once, and ignores them")
    if plan.nbd and not plan.nbd.is_local:
        found.append(
            "warning: any machine that reaches this address may change the data; NBD is open"
        )
    if not status["real_time"]:
        found.append("warning: no real-time priority: latencies exceed the model's under load")
    if not status["processors_awake"]:
        found.append("warning: idle processors sleep: each request takes some 40 µs more")
    return found


def floor_warnings(plan: ServePlan, offset_ns: int) -> list[str]:
    """Return a warning for each operation that an idle drive does faster than the path."""
    found = []
    for kind, modelled_ns in compiled.idle_latencies(plan.node).items():
        if modelled_ns < offset_ns and (kind != "flush" or plan.takes_flushes):
            modelled, floor = (format_value("latency", time) for time in (modelled_ns, offset_ns))
            found.append(
                f"warning: this drive is too fast for the path: a {kind} of 4 KiB takes "
                f"{modelled} by its model, and {floor} here"
            )
    return found


def shortfalls(status: Mapping[str, Any]) -> list[str]:
    """Return a warning for each operation that the path cannot serve as fast as the model."""
    found = []
    for kind in KINDS[:3]:
        figures = status["operations"][kind]
        share = figures["short"] / max(figures["operations"], 1)
        if share > SHORT_SHARE:
            missing = format_value("latency", figures["short_ns"] / figures["short"])
            found.append(
                f"warning: {share:.0%} of {PLURALS[kind]} have a modelled latency below the "
                f"path's own time, and take {missing} more on average"
            )
    return found


def status_line(now: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> str:
    """Return one line: rates since `before`, latencies modelled and met, lateness, memory."""
    seconds = (now["elapsed_ns"] - (before["elapsed_ns"] if before else 0)) / 1e9
    counts = {kind: _since(now, before, kind, "operations") / seconds for kind in KINDS}
    moved = sum(_since(now, before, kind, "bytes") for kind in ("read", "write")) / seconds
    parts = [f"{counts[kind]:,.0f} {PLURALS[kind]}/s" for kind in KINDS if counts[kind] >= 0.5]
    text = ", ".join([*(parts or ["idle"]), f"{moved / 1e6:,.1f} MB/s"])
    for kind in KINDS[:3]:
        figures = now["operations"][kind]
        if figures["operations"]:
            modelled, met = (
                format_value("latency", figures[key]["p50"]) for key in ("modelled_ns", "met_ns")
            )
            late = format_value("latency", figures["late_ns"]["p99"])
            text += f" | {kind} {modelled} modelled, {met} met, late p99 {late}"
    place = "memory" if now["store"] == "memory" else f"in {now['store']}"
    memory = f"{size_text(now['used_bytes'])} of {size_text(now['limit_bytes'])} {place}"
    refused = f", {now['refused_writes']} writes refused" if now["refused_writes"] else ""
    mirror = mirror_text(now["mirror"]) if now.get("mirror") else ""
    states = (members_text(now["members"]), mirror, faults_text(now))
    return " | ".join(filter(None, (text, f"{memory}{refused}", *states)))


def _since(
    now: Mapping[str, Any], before: Mapping[str, Any] | None, kind: str, figure: str
) -> float:
    earlier = before["operations"][kind][figure] if before else 0
    return float(max(now["operations"][kind][figure] - earlier, 0))


def members_text(members: Mapping[str, Any]) -> str:
    """Return a phrase on failed members and rebuilds under way; empty if all is well."""
    named = {kind: ", ".join(map(str, members[kind])) for kind in ("failed", "rebuilding")}
    parts = [f"failed: {named['failed']}"] if members["failed"] else []
    if members["rebuilding"]:
        written = size_text(members["written_bytes"])
        parts.append(f"rebuilding: {named['rebuilding']} ({written} written)")
    if members["is_broken"]:
        parts.append("data lost")
    return ", ".join(parts)


def mirror_text(mirror: Mapping[str, Any]) -> str:
    """Return a phrase on the sides of a block mirror; empty if both are there."""
    if mirror["sides"] == "alone":
        return "one side is gone"
    behind = mirror["behind_bytes"]
    parts = [f"the far side is {size_text(behind)} behind"] if behind else []
    parts += ["resync"] if mirror["sides"] == "resync" else []
    parts += [] if mirror["link_is_up"] else ["the link is cut"]
    return ", ".join(parts)


def faults_text(status: Mapping[str, Any]) -> str:
    """Return a phrase on a slowdown and on corrupt content; empty if there is none."""
    slowdown, corruption = status["slowdown"], status["corruption"]
    parts = []
    if slowdown["factor"] != 1:
        parts.append(f"{slowdown['factor']:g} times as late")
    if corruption["unreadable_bytes"]:
        parts.append(f"unreadable: {size_text(corruption['unreadable_bytes'])}")
    counts = ("failed_reads", "flipped_bits", "misdirected_writes")
    parts += [f"{key.replace('_', ' ')}: {corruption[key]}" for key in counts if corruption[key]]
    return ", ".join(parts)


def answer_text(words: Sequence[str], answer: Mapping[str, Any]) -> str:
    """Return a sentence on the effect of a message."""
    match words[0]:
        case "cut":
            return cut_text(answer)
        case "slow":
            return slowdown_text(answer)
        case "corrupt":
            return corruption_text(answer)
        case "failover":
            return failover_text(answer)
        case "take-back":
            lacks = size_text(answer["lacks_bytes"])
            return (
                f"the lost side is back, and receives {lacks}; `tameshi serve ctl status` shows it"
            )
        case "link":
            return f"the link is {'cut' if words[1] == 'cut' else 'up'}"
    return member_text(words, answer)


def slowdown_text(slowdown: Mapping[str, Any]) -> str:
    """Return a sentence on a slowdown, or its end."""
    if slowdown["factor"] == 1:
        return "requests that arrive from now on are answered by the model's time alone"
    left = slowdown["left_ns"]
    end = "until `tameshi serve ctl slow 1`" if left is None else f"for {left / 1e9:.3g} s"
    return f"requests are answered {slowdown['factor']:g} times as late, {end}"


def corruption_text(corruption: Mapping[str, Any]) -> str:
    """Return a sentence on a range that was corrupted."""
    length = size_text(corruption["length_bytes"])
    place = f"{length} at byte {corruption['offset_bytes']:,}"
    match corruption["kind"]:
        case "error":
            return f"reads that touch {place} fail until it is written anew"
        case "flip":
            return f"{corruption['length_bytes'] // 512:,} bits of {place} flipped: one per sector"
    return f"the next write that touches {place} is stored one length further, without an error"


def member_text(words: Sequence[str], members: Mapping[str, Any]) -> str:
    """Return a sentence on a failure or a replacement, with the states of all members."""
    word, member = words
    if word == "replace":
        then = "its rebuild has begun; `tameshi serve ctl status` shows it"
    elif members["is_broken"]:
        then = "too few members are left: all requests fail"
    else:
        then = "the others continue"
    return f"member {member} {'replaced' if word == 'replace' else 'failed'}; {then}"


def failover_text(losses: Mapping[str, Any]) -> str:
    """Return a sentence on the loss of a block mirror's near side."""
    text = (
        f"failover: {losses['lost_writes']} acknowledged writes are lost "
        f"({size_text(losses['lost_bytes'])}); the far side has not received "
        f"{losses['dropped_writes']} writes under way"
    )
    if losses.get("mounted_ns"):
        text += f"; mounted after {format_value('latency', losses['mounted_ns'])}"
    return text


def cut_text(cut: Mapping[str, Any]) -> str:
    """Return a sentence on a power cut."""
    acknowledged = (
        f"{cut['lost_writes']} of {cut['acknowledged']} acknowledged writes not flushed are lost "
        f"({size_text(cut['lost_bytes'])})"
    )
    under_way = f"{cut['stored_writes']} of {cut['under_way']} writes under way are stored"
    text = f"power cut: {acknowledged}; {under_way}; {cut['torn_writes']} torn"
    if cut.get("killed"):
        text += f"; {cut['killed']} {'process' if cut['killed'] == 1 else 'processes'} killed"
    if cut.get("mounted_ns"):
        text += f"; mounted again after {format_value('latency', cut['mounted_ns'])}"
    return text
