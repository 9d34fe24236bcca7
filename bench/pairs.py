"""Trials of the failover soak, into docs/validation/pairs.md.

    python -m bench.pairs [FOLDER] [--write]

Reads the trials of tests/system/hosts/test_failover_soak.py, and prints their answer; FOLDER is
where a soak test run has left them, by default that of the present core. `--write` writes the page.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from pathlib import Path
from typing import Any

from tameshi.availability import SetFolder, Trial, TrialSet, summarise
from tameshi.core import compiled
from tameshi.pairs import EVENTS, WAYS
from tameshi.report.failovers import answer, tables
from tameshi.report.render.markdown import markdown_table, markdown_text
from tameshi.report.words.text import Text

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/validation/pairs.md"
SOAK = ROOT / "build/soak/failovers"
SHOWN = ("services", "events")
"""Tables of the page; others are in the reports of the soak's folders."""


class SoakFolder(SetFolder):
    """Folder of the soak, with a folder of trials for each way and event."""

    def read(self, trial: Trial) -> dict[str, Any] | None:
        """Return a trial's result; None if it has not ended, or failed."""
        return self._of(trial).read(trial)

    def failure(self, trial: Trial) -> str:
        """Return why a trial failed; empty if it did not."""
        return self._of(trial).failure(trial)

    def _of(self, trial: Trial) -> SetFolder:
        return SetFolder(self.path / f"{trial.way}-{trial.event}")


def settings(folder: Path) -> dict[str, Any]:
    """Return the settings that all trials share."""
    documents = (json.loads(path.read_text("utf-8")) for path in folder.glob("*/set.json"))
    return dict(next(documents)["settings"])


def results(folder: Path) -> dict[str, Any]:
    """Return the summary of all trials."""
    files = [path.name.split(".") for path in folder.glob("*/trials/*.json")]
    asked = TrialSet(
        ways=tuple(WAYS),
        events=tuple(EVENTS),
        drives=tuple(dict.fromkeys(sorted((each[2] for each in files), reverse=True))),
        repetitions=max(int(each[3]) for each in files),
    )
    return summarise(asked, SoakFolder(folder))


def page(found: dict[str, Any], shared: dict[str, Any]) -> str:
    """Return the page of the documentation."""
    text = Text("en")
    rows = (shared["tables"], f"{shared['rows']:,}", shared["row_size"])
    lines = [
        "# Failover of real servers, measured",
        "",
        "<!-- written by `python -m bench.pairs --write` -->",
        "",
        "Trials of the [failover soak](../pairs-sets.md#soak): [pairs](../pairs.md) of two hosts",
        "on one machine, real servers on [served drives](../serve.md), joined by the link",
        f"`{shared['link']}`. {shared['clients']} clients update keys of {rows[0]} tables of",
        f"{rows[1]} rows of {rows[2]}, one row a commit; each commit has a row in the",
        f"[ledger](../programs-on-databases.md). Buffer pool {shared['buffer_pool']}, load for",
        f"{shared['before']:g} s before the event. {os.cpu_count()} processors, Linux",
        f"{platform.release()}; hosts, clients and drives share the processors.",
        "",
        f"{found['made']} of {found['planned']} trials have ended, and",
        f"{len(found['failures'])} failed.",
    ]
    lines += ["", *(f"- {markdown_text(line)}" for line in answer(found, text))]
    shown = [table for table in tables(found, text) if table.id in SHOWN]
    lines += [f"\n{markdown_table(table)}" for table in shown]
    for each in found["failures"]:
        place = f"{each['way']}, {each['event']}, {each['drive']}, {each['repetition']}"
        lines.append(f"- {place}: {each['failure']}")
    lines += ["", "Events:", ""]
    lines += [f"- `{event}`: {meaning}" for event, meaning in EVENTS.items()]
    lines += [
        "",
        "A return by copy means that the failed side had commits that the new primary does not",
        "have. *Unexplained*: commits that are there twice, or that no client sent.",
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def main() -> None:
    """Print the answer, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    folder = arguments.folder or SOAK / compiled.core_hash()[:12]
    found = results(folder)
    for line in answer(found, Text("en")):
        print(line)
    print(f"{found['made']} of {found['planned']} trials, {len(found['failures'])} failed")
    if arguments.write:
        PAGE.write_text(page(found, settings(folder)), encoding="utf-8")


if __name__ == "__main__":
    main()
