"""Names of streams by what they do."""

from __future__ import annotations

from collections import Counter

from tameshi.report.view.points import View
from tameshi.report.words.text import Text


def named_streams(view: View, text: Text) -> dict[str, str]:
    """Return the study's own names, and those of streams by what they do.

    A stream next to other loads keeps its name, which tells its role. So do streams that do the
    same, and those whose name is a phase's too.
    """
    does = {name: text.stream(facts) for name, facts in view.streams.items()}
    alike = Counter(does.values())
    names = {}
    for name, stream in does.items():
        is_role = not view.streams[name]["alone"] or alike[stream] > 1 or name in view.phases
        role = text("stream.role", name=text.name(name), stream=stream)
        names[name] = role if is_role else stream
    return {**text.own, **names}
