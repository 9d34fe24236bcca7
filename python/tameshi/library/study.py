"""Study in Python: load, change, plan, run."""

from __future__ import annotations

import hashlib
import io
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console

from tameshi import cluster as clusters
from tameshi import devices, guard
from tameshi.core.spec_types import Plan as PlanData
from tameshi.core.spec_types import World
from tameshi.core.toml_text import document
from tameshi.library.frames import plan_frame
from tameshi.library.results import Results
from tameshi.library.sampling import AXIS, levels_of_samples
from tameshi.study.bindings import check_hosts, check_worlds, read_bindings
from tameshi.study.changes import changed
from tameshi.study.file import StudyFile, plan, read_study, refusals
from tameshi.study.ready import ready
from tameshi.workflow.execute import carry_out
from tameshi.workflow.prepare import prepare, prepare_on_hosts
from tameshi.workflow.record_forms import form_of, wants_packs

HASH_DIGITS = 8
"""Digits of the hash in the name of a changed study."""


def studies() -> pl.DataFrame:
    """Return the ready studies: name, title, question, times, answer."""
    return pl.DataFrame([study.as_json() for study in ready()], infer_schema_length=None)


@dataclass(frozen=True)
class Plan:
    """Plan of a study in one world, without a run."""

    data: PlanData = field(repr=False)
    world: str

    @property
    def runs(self) -> pl.DataFrame:
        """Return a row per run: levels of its cell, repetition, seed, phases."""
        return plan_frame(self.data)

    @property
    def time_s_at_most(self) -> float | None:
        """Return the upper bound on the time of all runs; None without one."""
        time_ns = self.data.time_ns_at_most
        return None if time_ns is None else time_ns / 1e9

    @property
    def bytes_written_at_most(self) -> int | None:
        """Return the upper bound on the bytes written; None without one."""
        return self.data.bytes_written_at_most

    @property
    def refusals(self) -> list[str]:
        """Return what this world cannot run, with its place in the study."""
        return [str(refusal) for refusal in refusals(self.data)]

    def _repr_html_(self) -> str:
        return self.runs._repr_html_()


@dataclass(frozen=True)
class Study:
    """Study as written: immutable, `with_` returns a changed one."""

    file: StudyFile = field(repr=False)
    base: str
    """Name of the study that it was loaded as."""

    @classmethod
    def load(cls, study: str | Path) -> Study:
        """Load a study file, or a ready study by its name; raise `BadInput`."""
        file = read_study(Path(study))
        return cls(file, file.name)

    @classmethod
    def from_text(cls, text: str, name: str = "study") -> Study:
        """Return the study of a TOML text; its errors appear when it is planned."""
        return cls(StudyFile(name, Path(f"{name}.toml"), text), name)

    @property
    def name(self) -> str:
        """Return its name; a changed study has a hash of its text in it."""
        return self.file.name

    @property
    def text(self) -> str:
        """Return its TOML text."""
        return self.file.text

    def with_(self, changes: Mapping[str, Any] | None = None, /, **tables: Any) -> Study:
        """Return the study with other settings, merged into its tables.

        A key may be a place with dots, as in `{"engine.mysql.buffer_pool": "2 GiB"}`. Lists and
        values replace what was there; None removes it. The result has results of its own.
        """
        settings = changed(tomllib.loads(self.text), {**(changes or {}), **tables})
        text = document(settings)
        digits = hashlib.sha256(text.encode()).hexdigest()[:HASH_DIGITS]
        name = f"{self.base}-{digits}"
        # Profiles next to the study stay in reach.
        path = self.file.path.with_name(f"{name}.toml")
        return replace(self, file=replace(self.file, name=name, path=path, text=text))

    def with_samples(self, samples: pl.DataFrame) -> Study:
        """Return the study with an axis `sample`: a level per row of `tameshi.samples`."""
        rows = levels_of_samples(samples)
        levels = {label: changed({}, row) for label, row in rows.items()}
        return self.with_(axis={AXIS: levels})

    def with_profiles(self, *profiles: str | Path) -> Study:
        """Return the study with files of drives and arrays in reach, each by its name.

        A calibrated drive is one: `study.with_profiles(calibration.profile)`.
        """
        extra = {kind: list(known) for kind, known in self.file.extra.items()}
        for profile in profiles:
            found = devices.find_storage(str(profile), "tameshi.Study.with_profiles")
            for kind, files in found.extra.items():
                extra.setdefault(kind, []).extend(files)
        return replace(self, file=replace(self.file, extra=extra))

    def plan(self, world: str = "simulated", *, quick: bool = False, exact: bool = False) -> Plan:
        """Return its plan in a world; raise `BadInput` at the place of an error."""
        chosen = World(world)
        return Plan(plan(self.file, chosen.value, quick=quick, exact=exact), chosen.value)

    def run(
        self,
        world: str | Sequence[str] = "simulated",
        *,
        on: Mapping[str, str | Path] | None = None,
        server: Mapping[str, str] | None = None,
        destroy: Sequence[str] = (),
        backend: str = "auto",
        slow: float | None = 1,
        out: str | Path | None = None,
        jobs: int | None = None,
        cluster: Any = None,
        records: str = "auto",
        quick: bool = False,
        exact: bool = False,
        fresh: bool = False,
        keep: bool = False,
        progress: bool = False,
    ) -> Results:
        """Run what remains of it, and return its results; raise `BadInput` before any run.

        Parameters are the options of `tameshi run`. `slow`: None chooses the factor for this
        machine. `out`: folder of the results, by default that of the command. `cluster`: a client
        of Dask, or what `--cluster` takes. `progress`: show it on standard error. In the main
        thread, an interrupt ends the runs with partial results.
        """
        worlds = [World(each) for each in ([world] if isinstance(world, str) else world)]
        pairs = ([f"{k}={v}" for k, v in (given or {}).items()] for given in (on, server))
        bound = read_bindings(None, *pairs)
        bound = replace(bound, destroy=tuple(destroy), backend=backend, slow=slow)
        check_worlds(worlds, bound)
        check_hosts(worlds, bound, cluster)
        at_once = jobs or os.cpu_count() or 1
        clusters.check(cluster, worlds, bound.hosts)
        folder = Path(out) if out is not None else self.file.results_folder(quick=quick)
        packed = wants_packs(records, None if fresh else folder)
        if not bound.hosts:
            prepared = prepare(self.file, worlds, bound, quick=quick, exact=exact, packed=packed)
        console = Console(stderr=True) if progress else Console(file=io.StringIO())
        with clusters.connected(cluster, at_once) as elsewhere:
            fleet = clusters.fleet_of(elsewhere, bound.hosts)
            if fleet:
                prepared = prepare_on_hosts(self.file, fleet.examine, quick=quick)
            form = form_of(records, prepared, None if fresh else folder)
            if fresh and folder.exists():
                guard.remove_folder(folder)
            done = carry_out(
                prepared,
                folder,
                console,
                jobs=at_once,
                reproduce=[f"# Python: tameshi.Study, results in {folder}"],
                keep=keep,
                elsewhere=elsewhere,
                records=form,
                fleet=fleet,
            )
            for line in fleet.clean() if fleet and done.complete and not keep else ():
                console.print(line, markup=False, highlight=False)
        return Results(folder, done.results, done.runs, done.complete)

    def _repr_html_(self) -> str:
        settings = tomllib.loads(self.text)
        title, question = (escape(str(settings.get(key, ""))) for key in ("title", "question"))
        return f"<p><b>{title}</b><br>{question}</p><pre>{escape(self.text)}</pre>"
