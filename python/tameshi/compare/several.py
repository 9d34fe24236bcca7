"""Comparison of several sides with one baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tameshi.compare.comparison import COMPARISON_VERSION, Comparison, Options, compare, exit_status
from tameshi.compare.judge import with_firmness
from tameshi.compare.sides import Side
from tameshi.core.exit_status import ExitStatus


@dataclass(frozen=True)
class Comparisons:
    """Comparison of each other side with the first one."""

    each: tuple[Comparison, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the form that `--format json` prints; see docs/compare.md."""
        forms = [comparison.as_json() for comparison in self.each]
        return {"schema_version": COMPARISON_VERSION, "a": forms[0]["a"], "comparisons": forms}


def compare_all(
    baseline: Side, others: Sequence[Side], options: Options | None = None
) -> Comparisons:
    """Compare each other side with the baseline; correct for the number of all comparisons."""
    each = [compare(baseline, other, options) for other in others]
    marked = iter(with_firmness([j for comparison in each for j in comparison.judgements]))
    return Comparisons(
        tuple(
            replace(
                comparison,
                cells=tuple(
                    replace(cell, judgements=tuple(next(marked) for _ in cell.judgements))
                    for cell in comparison.cells
                ),
            )
            for comparison in each
        )
    )


def exit_status_of_all(comparisons: Comparisons, fail_on: str) -> int:
    """Return 1 if anything is certainly worse, else 3 if anything is incomparable, else 0."""
    found = {exit_status(comparison, fail_on) for comparison in comparisons.each}
    order = (ExitStatus.FAILED, ExitStatus.INVALID)
    return next((status for status in order if status in found), ExitStatus.DONE)
