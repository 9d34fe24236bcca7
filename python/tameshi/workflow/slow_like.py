"""Slow motion in which a CPU-bound load comes out as on another host: `--slow-like`.

A study of its own runs the same point selects on this machine and, simulated, on the host. Both
have the study's server and its clients; all data are in the buffer pool.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from tameshi import guard
from tameshi.core.errors import BadInput, RunFailed
from tameshi.core.spec_types import Plan, RunSpec, World
from tameshi.core.toml_text import inline
from tameshi.servers import slow_clock
from tameshi.servers.catalog import product_named
from tameshi.servers.placement import Serving
from tameshi.study.bindings import MOST_SLOW, Bindings
from tameshi.study.file import StudyFile, plan, profiles, refusals
from tameshi.workflow.execute import conduct, refuse_other
from tameshi.workflow.prepare import Prepared, prepare

OPTION = "--slow-like"
NAME = "slow-like"
"""Name of the calibrating study, and of its folder in the study's folder."""
METRIC = "statement.rate"
OTHERS = "others"
"""Code of the reason for processors that other programs used."""
TEXT = """
title = "Processors here and there"
question = "How many point selects in memory does this machine do, and how many does the host?"
[storage.data]
device = "optane-p4800x-375g"
size   = "1 GiB"
[host]
profile = {host}
[engine.{engine}]
buffer_pool  = "128 MiB"
flush_method = "O_DIRECT"
{version}
[workload.oltp]
mix     = "point_select"
tables  = 1
rows    = 10000
clients = {clients}
[phase.point_selects]
workload   = ["oltp"]
ramp       = "1 s"
until.time = "6 s"
[run]
start    = "warm"
interval = "250 ms"
seed     = 1
"""


@dataclass(frozen=True)
class Load:
    """Server of a study, and the most clients that it has at once."""

    engine: str
    version: str | None
    clients: int

    def study(self, host: str, beside: StudyFile) -> StudyFile:
        """Return the calibrating study; `beside`: the study whose profiles it has."""
        version = f"version = {inline(self.version)}" if self.version else ""
        text = TEXT.format(
            host=inline(host), engine=self.engine, version=version, clients=self.clients
        )
        return StudyFile(NAME, beside.path, text, beside.extra)


@dataclass(frozen=True)
class Likeness:
    """Rates of the same load on this machine and on a host."""

    host: str
    load: Load
    product: str
    """Server that ran here, with its version."""
    here: float
    there: float
    is_disturbed: bool = False
    """Other programs ran here meanwhile."""

    @property
    def factor(self) -> float:
        """Return the factor of slow motion, at least 1."""
        factor = round(max(self.there / self.here, 1.0), 3)
        return int(factor) if factor.is_integer() else factor

    @property
    def why(self) -> str:
        """Return a sentence on the factor."""
        of = f"{self.load.engine} {self.load.version or ''}".strip()
        words = (
            f"slow motion {self.factor:g}: point selects in memory of {self.load.clients} clients: "
            f"{self.here:,.0f} statements/s here ({self.product}), {self.there:,.0f} simulated on "
            f"`{self.host}` ({of})"
        )
        if self.there < self.here:
            words += "; this machine is faster, and slow motion cannot be below 1"
        if self.is_disturbed:
            words += "; other programs ran here meanwhile: repeat it alone"
        return words


def load_of(planned: Plan, hosts: list[str], host: str, bindings: Bindings) -> Load:
    """Return the load that a study's runs and a host are compared by; raise `BadInput`."""
    if host not in hosts:
        message = "there is no such host profile"
        raise BadInput(message, where=OPTION, found=host, accepted=hosts)
    runs = [run for run in planned.runs if run.database]
    engines = dict.fromkeys(run.database.engine for run in runs if run.database)
    if not engines:
        raise BadInput(
            "the study has no database server whose processor time could be compared",
            where=OPTION,
            accepted=["--slow K", "--slow auto"],
        )
    if len(engines) > 1:
        raise BadInput(
            "the study has several database servers, and one factor does not fit all of them",
            where=OPTION,
            found=", ".join(engines),
            accepted=["--slow K", "a study with one server"],
        )
    (engine,) = engines
    if product_named(bindings.server.get(engine, engine)).embedded:
        raise BadInput(
            "the study's database has no server: it is part of the load, whose own time is not "
            "slowed",
            where=OPTION,
            found=bindings.server.get(engine, engine),
            accepted=["--slow K", "--slow auto"],
        )
    slow_clock.require_library()
    version = (runs[0].engines or {})[engine].version
    return Load(engine, version, max(map(_clients, runs)))


def _clients(run: RunSpec) -> int:
    """Return the most clients of a run's phases."""
    programs = [program for phase in run.phases for program in phase.programs or ()]
    settings = [next(iter(program.model_dump(mode="json").values())) for program in programs]
    return max((int(each.get("clients") or 1) for each in settings), default=1)


def likened(
    prepared: Prepared, bindings: Bindings, host: str, folder: Path, console: Console
) -> Prepared | None:
    """Return a study in slow motion as of a host; None if it was interrupted.

    The calibration stays in the study's folder: a repeated command takes the same factor.
    """
    study = prepared.study
    load = load_of(prepared.plans[World.emulated], _hosts(study), host, bindings)
    refuse_other(folder, study, quick=prepared.quick)
    guard.claim_folder(folder)
    likeness = calibrated(load, study, bindings, host, folder / NAME, console)
    if likeness is None:
        return None
    if likeness.factor > MOST_SLOW:
        raise BadInput(
            f"the host is more than {MOST_SLOW} times as fast as this machine",
            where=OPTION,
            found=f"{likeness.factor:,g}",
        )
    return prepared.slowed(replace(bindings, slow=likeness.factor), likeness.why)


def _hosts(study: StudyFile) -> list[str]:
    return [name for name, _, _ in profiles("hosts", study.path)]


def calibrated(
    load: Load, beside: StudyFile, bindings: Bindings, host: str, folder: Path, console: Console
) -> Likeness | None:
    """Run the load on this machine and on the simulated host; None if it was interrupted."""
    study = load.study(host, beside)
    if refused := refusals(plan(study, World.simulated.value, quick=False)):
        raise BadInput(
            f"the simulated world has no model of this server: {refused[0].message}",
            where=OPTION,
            found=load.engine,
            accepted=["--slow K", "--slow auto"],
        )
    own = Bindings(server=bindings.server)
    ready = prepare(study, [World.simulated, World.emulated], own, quick=False, exact=True)
    console.print(f"{OPTION} {host}: measuring this machine's processors first", soft_wrap=True)
    reproduce = [shlex.join(["tameshi", "run", "study.toml", "--world", "emulated"])]
    done = conduct(ready, folder, console, jobs=1, reproduce=reproduce)
    if done.interrupted:
        return None
    rates = {cell["world"]: _rate(cell) for cell in done.results["cells"]}
    here, there = (rates.get(world.value) for world in (World.emulated, World.simulated))
    if not done.complete or not here or not there:
        raise RunFailed(
            "the load that this machine and the host are compared by failed",
            where=OPTION,
            hint=f"Its runs are in {folder}.",
        )
    serving = ready.examined[World.emulated].servers[load.engine]
    return Likeness(host, load, _named(serving), here, there, _is_disturbed(done.results))


def _named(serving: Serving) -> str:
    return f"{serving.product.title} {serving.program.version}"


def _rate(cell: Mapping[str, Any]) -> float | None:
    """Return the statements per second of a cell's clients."""
    rates = (
        estimate["value"]
        for estimate in cell["estimates"]
        if (estimate["metric"], estimate["subject"]) == (METRIC, "oltp")
        and estimate["window"] == cell["phase"]
    )
    return next(rates, None)


def _is_disturbed(results: Mapping[str, Any]) -> bool:
    reasons = (reason for cell in results["cells"] for reason in cell["verdict"]["reasons"])
    return any(reason["code"] == OTHERS for reason in reasons)
