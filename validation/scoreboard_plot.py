"""Picture of the scoreboard: ours against the known value of each figure, on logarithmic axes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
mpl.rcParams["svg.hashsalt"] = "tameshi"

from matplotlib import pyplot as plt  # noqa: E402  (the backend is chosen before)

Group = tuple[str, Sequence[tuple[float, float]]]
"""Name, and pairs of known value and ours."""
NEAR = 1.25
INCHES = (7.5, 7.5)
MARKS = "os^D"


def draw(groups: Iterable[Group], path: Path) -> None:
    """Write a picture as SVG, the same for the same figures."""
    figure, axes = plt.subplots(figsize=INCHES)
    kept = [(name, pairs) for name, pairs in groups if pairs]
    for (name, pairs), mark in zip(kept, MARKS, strict=False):
        known, ours = zip(*pairs, strict=True)
        axes.scatter(known, ours, s=14, marker=mark, alpha=0.7, label=name)
    ends = [value for _, pairs in kept for pair in pairs for value in pair]
    low, high = min(ends) / 2, max(ends) * 2
    axes.plot([low, high], [low, high], color="black", linewidth=0.8)
    for factor in (NEAR, 1 / NEAR):
        bound = [low * factor, high * factor]
        axes.plot([low, high], bound, color="grey", linewidth=0.6, linestyle="dashed")
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high))
    axes.set(xlabel="known value, in the list's unit", ylabel="ours")
    axes.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
    plt.close(figure)
