"""`tameshi run`: study file to results and report."""

from __future__ import annotations

import json
import os
import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tameshi import cluster as clusters
from tameshi import guard
from tameshi.commands.announcement import announce, end
from tameshi.commands.consoles import ERR, OUT
from tameshi.commands.options import LangOption, check_language, check_word
from tameshi.commands.slowed_like import slowed_like
from tameshi.commands.study_options import (
    ClusterOption,
    ExactOption,
    QuickOption,
    RecordsOption,
    ServerOption,
    SlowLikeOption,
    SlowOption,
    StudyArgument,
    VerboseOption,
    WorldOption,
)
from tameshi.commands.summary import print_summary
from tameshi.core import compiled
from tameshi.core.exit_status import ExitStatus
from tameshi.core.reasons import LEVELS
from tameshi.core.spec_types import World
from tameshi.study.bindings import check_hosts, check_worlds, read_bindings, slow_of
from tameshi.study.file import read_study
from tameshi.workflow.prepare import Prepared, prepare, prepare_on_hosts
from tameshi.workflow.record_forms import form_of, wants_packs

if TYPE_CHECKING:
    from rich.console import Console

    from tameshi.cluster.fleet import Fleet
    from tameshi.monitor import Service
    from tameshi.run.dispatcher import Elsewhere
    from tameshi.servers.private import Kept

app = typer.Typer(add_completion=False)

NEVER = "never"
FAILING = [NEVER, "invalid", "warning"]
"""Choices of `--fail-on`."""

OnOption = Annotated[
    list[str] | None,
    typer.Option(
        "--on",
        help=(
            "NAME=PATH (repeatable): file, directory or drive for a storage; HOST:NAME=PATH on a "
            "host of the cluster."
        ),
    ),
]

DestroyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--destroy",
        help=(
            "Real path of a file, or serial number, WWN or by-id link of a disk, whose "
            "content may be destroyed (repeatable)."
        ),
    ),
]

EventOption = Annotated[
    list[str] | None,
    typer.Option(
        "--event",
        help="NAME=COMMAND (repeatable): command that causes an event in a measured run.",
    ),
]

BindingsOption = Annotated[
    Path | None,
    typer.Option("--bindings", help="TOML file with [storage], [server] and [event] bindings."),
]

BackendOption = Annotated[
    str,
    typer.Option(
        "--backend",
        help=(
            "I/O backend of a measured or emulated run: auto, io_uring, portable, or null, "
            "which performs no I/O."
        ),
    ),
]

OutOption = Annotated[
    Path | None,
    typer.Option("--out", help="Results folder. [default: tameshi-results/STUDY or STUDY-quick]"),
]

FailOnOption = Annotated[
    str,
    typer.Option(
        "--fail-on",
        help=(
            "never; or invalid or warning: exit with status 3 if the verdict is that bad or worse."
        ),
    ),
]


PROCESSORS = os.cpu_count() or 1

JobsOption = Annotated[
    int, typer.Option("--jobs", min=1, help="Number of simulated runs in parallel.")
]

MetricsOption = Annotated[
    str | None,
    typer.Option(
        "--metrics",
        metavar="[ADDRESS:]PORT",
        help="Serve metrics of the runs for Prometheus, by default on the loopback address.",
    ),
]


@app.command()
def run_command(
    study_path: StudyArgument,
    world: WorldOption = None,
    on: OnOption = None,
    destroy: DestroyOption = None,
    server: ServerOption = None,
    event: EventOption = None,
    bindings: BindingsOption = None,
    backend: BackendOption = "auto",
    out: OutOption = None,
    jobs: JobsOption = PROCESSORS,
    cluster: ClusterOption = None,
    records: RecordsOption = "auto",
    lang: LangOption = "en",
    quick: QuickOption = False,
    slow: SlowOption = "1",
    slow_like: SlowLikeOption = None,
    exact: ExactOption = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Remove earlier results first.")] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the files created for storages, and databases.")
    ] = False,
    verbose: VerboseOption = False,
    as_data: Annotated[
        bool, typer.Option("--json", help="Print results.json; all else goes to standard error.")
    ] = False,
    fail_on: FailOnOption = NEVER,
    metrics: MetricsOption = None,
) -> None:
    """Run or resume a study, and write its results and report."""
    study = read_study(study_path)
    check_word("--backend", backend, list(compiled.BACKENDS))
    bound = read_bindings(bindings, on or [], server or [], event or [])
    bound = replace(bound, destroy=tuple(destroy or ()), backend=backend, slow=slow_of(slow))
    worlds = list(dict.fromkeys(world or [World.simulated]))
    check_language(lang)
    check_word("--fail-on", fail_on, FAILING)
    check_worlds(worlds, bound, slow_like)
    check_hosts(worlds, bound, cluster)
    clusters.check(cluster, worlds, bound.hosts)
    service = _served(metrics, ERR) if metrics is not None else None
    folder = out or study.results_folder(quick=quick)
    packed = wants_packs(records, None if fresh else folder)
    if not bound.hosts:
        prepared = prepare(study, worlds, bound, quick=quick, exact=exact, packed=packed)
    with clusters.connected(cluster, jobs) as elsewhere:
        fleet = clusters.fleet_of(elsewhere, bound.hosts)
        if fleet:
            prepared = prepare_on_hosts(study, fleet.examine, quick=quick)
        form = form_of(records, prepared, None if fresh else folder)
        if fresh and folder.exists():
            guard.remove_folder(folder)
        if slow_like is not None:
            prepared = slowed_like(prepared, bound, slow_like, folder)
        announce(prepared, ERR if as_data else OUT)
        told = _Output(verbose, as_data, fail_on)
        given = (prepared, folder, lang, jobs, elsewhere)
        _conduct(*given, keep=keep, told=told, service=service, records=form, fleet=fleet)


def _served(asked: str, console: Console) -> Service:
    """Serve metrics from now on, and print where."""
    from tameshi.monitor import serve

    service = serve(asked)
    for line in service.lines:
        console.print(line, soft_wrap=True, markup=False, highlight=False)
    return service


@dataclass(frozen=True)
class _Output:
    """Form of the results on standard output, and the verdict that fails the command."""

    verbose: bool
    as_data: bool
    fail_on: str


def _conduct(
    prepared: Prepared,
    folder: Path,
    lang: str,
    jobs: int,
    elsewhere: Elsewhere | None,
    *,
    keep: bool,
    told: _Output,
    service: Service | None,
    records: str,
    fleet: Fleet | None,
) -> None:
    """Run the prepared study and show its results."""
    # The libraries for running and reporting take seconds to load; refuse a bad study without them.
    from tameshi.workflow import study_folder
    from tameshi.workflow.execute import carry_out

    reproduce = [shlex.join(["tameshi", *sys.argv[1:]])]
    watch = service.watch if service else None
    given = (prepared, folder, ERR)
    done = carry_out(
        *given,
        jobs=jobs,
        reproduce=reproduce,
        keep=keep,
        watch=watch,
        elsewhere=elsewhere,
        records=records,
        fleet=fleet,
    )
    if fleet and done.complete and not keep:
        for line in fleet.clean():
            ERR.print(line, soft_wrap=True, markup=False, highlight=False)
    if service:
        service.close()
    shown = study_folder.show(folder, lang, done.results)
    print_summary(shown, ERR if told.as_data else OUT, verbose=told.verbose)
    for kept in done.kept:
        _print_kept(kept)
    if told.as_data:
        typer.echo(json.dumps(done.results, ensure_ascii=False, indent=2))
    end(interrupted=done.interrupted, complete=done.complete)
    level = done.results["verdict"]["level"]
    if told.fail_on != NEVER and LEVELS.index(level) >= LEVELS.index(told.fail_on):
        raise typer.Exit(ExitStatus.INVALID)


def _print_kept(kept: Kept) -> None:
    """Print where a kept database is, and the commands that start it, query it and remove it."""
    lines = [
        f"Kept: the last run's database ({kept.title}) in {kept.folder}",
        *([f"  start:  {shlex.join(kept.start)}"] if kept.start else []),
        f"  query:  {shlex.join(kept.shell)}",
        "  remove: stop the server, and repeat this command without --keep"
        if kept.start
        else "  remove: repeat this command without --keep",
    ]
    for line in lines:
        ERR.print(line, soft_wrap=True, markup=False, highlight=False)
