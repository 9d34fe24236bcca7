"""What happened, in words: an event of a timeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tameshi.analysis.stats.timeline import MISSED
from tameshi.core.reasons import completed
from tameshi.report.view.points import View
from tameshi.report.words.text import Text, format_value


def missing(view: View, text: Text) -> list[str]:
    """What did not happen and why, each once."""
    told = (
        happening(event, text)
        for cell in view.cells
        for stretch in cell.get("timeline", ())
        for event in stretch["happened"]
        if event["kind"] == MISSED
    )
    return list(dict.fromkeys(told))


def happening(event: Mapping[str, Any], text: Text) -> str:
    """What happened, in words."""
    kind = str(event["kind"])
    fields: dict[str, Any] = {
        key: text.name(str(event[key])) for key in ("storage", "event") if key in event
    }
    channel = event.get("channel") is not None
    if kind == "fail":
        kind = "fail_all" if event.get("member") is None else kind
        if channel:
            kind = "fail_channel" if event["survived"] else "fail_last_channel"
    if kind == "rebuilt":
        spent = event["for_ns"]
        fields |= {
            "bytes": format_value("bytes", event["bytes"]),
            "time": format_value("latency", spent),
            "scale": event.get("scale"),
        }
        kind = "rebuilt_channel" if channel else kind
        # What was under way has no part in the capacity that a scale reduces.
        kind = "resynced" if event.get("resync") else kind
        kind += "_scaled" if event.get("scale") and kind != "resynced" else ""
    if kind == "power_cut":
        fields |= {
            "outstanding": event["outstanding"],
            "torn": event.get("torn_writes", 0),
            "writes": event["lost_writes"],
            "bytes": format_value("bytes", event["lost_bytes"]),
            "flush": format_value("latency", event.get("flush_ns", 0)),
            "hold_up": format_value("latency", event.get("hold_up_ns", 0)),
        }
        kind = "power_cut_carried" if event.get("hold_up_ns") else kind
    if kind in ("crash", "restart"):
        fields["away"] = format_value("latency", event["away_ns"])
        kind += "_cut_short" if event.get("back") is False else ""
    if kind == "pool_loaded":
        fields |= {
            "pages": f"{event['pages']:,}",
            "time": format_value("latency", event["for_ns"]),
        }
        kind += "" if event["whole"] else "_in_part"
    if kind == "failover":
        fields |= {
            "outstanding": event["outstanding"],
            "writes": event["lost_writes"],
            "bytes": format_value("bytes", event["lost_bytes"]),
        }
    fields |= {key: event[key] for key in ("member", "channel", "status") if key in event}
    if "why" in event:
        fields["why"] = text.reason(completed(event["why"]))
    said = text(f"timeline.{kind}", **fields)
    if event["kind"] != "fail" or not event.get("lost_writes"):
        return said
    lost = format_value("bytes", event["lost_bytes"])
    return text("timeline.lost_with_it", said=said, writes=event["lost_writes"], bytes=lost)
