"""Comparison in words: terminal and Markdown, both languages."""

from __future__ import annotations

import io
import json
import string

import made
import pytest
from rich.console import Console

from tameshi.compare import Comparison, Options, Side, compare
from tameshi.report.comparison import comparison_markdown, comparison_terminal
from tameshi.report.words.strings import TEXT

SLOWER = tuple(0.8 * rate for rate in made.RATES)
OTHER_KERNEL = made.ENVIRONMENT | {"kernel": "6.2.0"}


def terminal(comparison: Comparison, lang: str = "en", *, color: bool = False) -> str:
    system = "standard" if color else None
    file = io.StringIO()
    console = Console(width=200, file=file, force_terminal=color, color_system=system)
    console.print(comparison_terminal(comparison.as_json(), lang))
    return file.getvalue()


def test_verdict_comes_first_and_figures_follow() -> None:
    shown = terminal(compare(made.side(), made.side(SLOWER, environment=OTHER_KERNEL)))
    lines = [line for line in shown.splitlines() if line]
    assert lines[0] == "A: A — Small"
    assert lines[2] == "Comparable, with differences: kernel may affect the result."
    assert lines[3].startswith(
        "B compared with A, 3 comparisons: 0 better, 0 same, 3 worse, 0 undecided"
    )
    assert "between 0.952 and 1.05" in lines[4]
    assert "about 0.1 of them" in shown and "3 are better or worse; 3 of these remain" in shown
    assert "▼ worse 0.800 × (0.7" in shown
    assert "│ kernel │ may affect the result │ 6.1.0 │ 6.2.0 │ all 1 │" in shown
    assert "Equal on both sides: world, workload," in shown


def test_differences_within_chance_have_a_star() -> None:
    result = compare(made.side((1000.0,)), made.side((500.0,))).as_json()
    for judgement in result["cells"][0]["judgements"]:
        judgement |= {"outcome": "worse", "firm": False}
    assert "▼ worse*" in comparison_markdown(result).replace("\\", "")


def test_incomparable_sides_are_not_judged_in_words() -> None:
    size = made.changed(made.SPEC, "storage/disk/size", "16 MiB")
    shown = terminal(compare(made.side(), made.side(SLOWER, size)))
    assert "Incomparable: storage size (disk) differ." in shown
    assert "are not judged" in shown
    assert "– not judged 0.800 ×" in shown
    assert "worse" not in shown


def test_phase_of_identical_runs_takes_one_row() -> None:
    cells = [made.cell(world="simulated") | {"levels": {"size": s}} for s in ("small", "large")]
    results = made.results(*cells)
    runs = []
    for size in ("small", "large"):
        spec = made.simulated() | {"cell": {"size": size}}
        runs += made.runs(spec, made.SIMULATED_ENVIRONMENT, digest=size)
    comparison = compare(Side("A", results, runs), Side("B", results, runs))
    shown = comparison_markdown(comparison.as_json())
    assert "| p | all 2 | = same 1.00 × | = same 1.00 × | = same 1.00 × |" in shown
    assert "\n\nidentical runs\n" in shown


COMPARISONS = {
    "worse": lambda: compare(made.side(), made.side(SLOWER, environment=OTHER_KERNEL)),
    "identical": lambda: compare(made.side(), made.side()),
    "strict": lambda: compare(
        made.side(),
        made.side(SLOWER, environment=OTHER_KERNEL),
        Options(changed=["software"], every=True),
    ),
    "one run": lambda: compare(made.side((1.0,)), made.side((2.0,))),
    "unknown": lambda: compare(made.side(), Side("B", made.side().results, [])),
    "worlds": lambda: compare(
        made.side(made.RATES, made.simulated(), made.SIMULATED_ENVIRONMENT), made.side()
    ),
    "nothing": lambda: compare(made.side(), Side("B", made.results(), [])),
}


@pytest.mark.parametrize("name", COMPARISONS)
def test_every_form_speaks_both_languages(name: str) -> None:
    comparison = COMPARISONS[name]()
    assert json.loads(json.dumps(comparison.as_json())) == comparison.as_json()
    japanese = terminal(comparison, "ja") + comparison_markdown(comparison.as_json(), "ja")
    english = terminal(comparison) + comparison_markdown(comparison.as_json())
    assert english != japanese
    left = []
    for key, (words, other) in TEXT.items():
        longest = max((part for part, *_ in string.Formatter().parse(words)), key=len, default="")
        longest = longest.strip()
        if len(longest.split()) > 1 and longest not in other and longest in japanese:
            left.append((key, longest))
    assert left == []


def test_outcomes_have_colours_and_words() -> None:
    assert "\x1b[31m▼ worse" in terminal(compare(made.side(), made.side(SLOWER)), color=True)


def test_names_are_escaped_in_markdown() -> None:
    result = compare(made.side(), made.side()).as_json()
    result["a"]["study"] = "a | b <script> *c*"
    assert "a \\| b \\<script\\> \\*c\\*" in comparison_markdown(result)
