"""Folder of a set of trials: settings, and a file per trial, written when the trial ends."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tameshi import guard
from tameshi.availability.trial_set import Trial, TrialSet
from tameshi.core import compiled
from tameshi.core.errors import BadInput, unknown_version
from tameshi.record.store import write_json

SETTINGS, TRIALS, RESULTS, REPORT = "set.json", "trials", "results.json", "report.html"
VERSION = 1


class SetFolder:
    """Folder of Tameshi's with a set of trials, new or begun."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self, asked: TrialSet) -> None:
        """Write the settings down, or compare them with those of the trials that are there.

        Raises `BadInput` if a trial of the set would be another one than those.
        """
        guard.claim_folder(self.path)
        guard.claim_folder(self.path / TRIALS)
        settings = {**asked.settings(), "core": compiled.core_hash()}
        known = self._known()
        if known is not None and (other := _difference(known, settings)):
            raise BadInput(
                "the folder has trials with other settings",
                where=str(self.path),
                found="; ".join(f"{key} {known.get(key)}" for key in other),
                accepted=["; ".join(f"{key} {settings.get(key)}" for key in other)],
                hint="Name another folder by --out, or remove these trials by --fresh.",
            )
        write_json(
            self.path / SETTINGS,
            {"schema_version": VERSION, "name": asked.name, "settings": settings},
        )

    def _known(self) -> dict[str, Any] | None:
        """Return the settings of the trials that are there; None without any."""
        document = read_document(self.path / SETTINGS)
        if document is None:
            return None
        found = document.get("schema_version")
        if found != VERSION:
            message = "the folder has a set of trials of another version of Tameshi"
            raise unknown_version(message, str(self.path / SETTINGS), found, [VERSION])
        return dict(document["settings"])

    def read(self, trial: Trial) -> dict[str, Any] | None:
        """Return a trial's result; None if it has not ended, or failed."""
        document = read_document(self.path / TRIALS / trial.file)
        return None if document is None or "failure" in document else document

    def write(self, trial: Trial, result: Mapping[str, Any]) -> None:
        """Keep a trial's result, or its failure."""
        write_json(self.path / TRIALS / trial.file, result)

    def failure(self, trial: Trial) -> str:
        """Return why a trial failed; empty if it did not."""
        document = read_document(self.path / TRIALS / trial.file) or {}
        return str(document.get("failure", ""))


def read_document(path: Path) -> dict[str, Any] | None:
    """Return a JSON file; None if it is not there or not whole."""
    try:
        document = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return document if isinstance(document, dict) else None


def _difference(known: Mapping[str, Any], settings: Mapping[str, Any]) -> list[str]:
    """Return the settings that differ."""
    return [key for key in {**known, **settings} if known.get(key) != settings.get(key)]
