"""The command line."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from tameshi import (
    _core,
    ask_command,
    calibrate,
    devices_command,
    guard,
    outputs,
    predictions,
    validation_page,
)
from tameshi.bindings import Bindings, read_bindings
from tameshi.compare import Options, compare, exit_status, read_side
from tameshi.compat.databases import FORMS, as_form
from tameshi.conduct import Conducted, Prepared, conduct, prepare, remove_targets
from tameshi.doctor import as_json, doctor, render
from tameshi.errors import BadInput, TameshiError
from tameshi.fio_command import Asked, run_fio
from tameshi.options import size_of, time_of
from tameshi.paths import STUDIES, VALIDATION
from tameshi.report import (
    comparison_markdown,
    comparison_terminal,
    fit_markdown,
    fit_terminal,
    markdown,
    terminal,
)
from tameshi.run.display import volume
from tameshi.spec_types import PhaseSpec, Plan, World
from tameshi.study import StudyFile, plan, read_study
from tameshi.verify import AFTER, described, verify

INTERRUPTED = 130
SHOWN_BLOCKS = 20
app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.add_typer(devices_command.app, name="devices")
app.command("ask")(ask_command.asked)
out_console = Console(highlight=False)
err_console = Console(stderr=True, highlight=False)

StudyArgument = Annotated[Path, typer.Argument(help="The study file.")]
WorldOption = Annotated[
    list[World] | None,
    typer.Option("--world", help="Where to run; may be given several times. [default: simulated]"),
]
QuickOption = Annotated[bool, typer.Option("--quick", help="Merge in the study's `quick` part.")]


def default_out(study: StudyFile) -> Path:
    """Where a study's results go if nothing is said."""
    return Path("tameshi-results") / study.name


@app.command("plan")
def plan_command(
    study_path: StudyArgument, world: WorldOption = None, quick: QuickOption = False
) -> None:
    """Show the matrix of a study, the time it takes and the bytes it writes; needs no device."""
    study = read_study(study_path)
    for number, chosen in enumerate(world or [World.simulated]):
        planned = plan(study, chosen.value, quick=quick)
        if number == 0:
            print_matrix(planned)
        print_bounds(chosen, planned)


def print_matrix(planned: Plan) -> None:
    """Axes, cells and phases."""
    out_console.print(f"[bold]{planned.study.title}[/]\n{planned.study.question}\n")
    table = Table("axis", "varies", "levels", title="Axes", title_justify="left")
    for axis in planned.study.axes:
        table.add_row(
            axis.name,
            axis.varies.value + (" runs" if axis.varies == "across" else " a run"),
            ", ".join(axis.levels),
        )
    if planned.study.axes:
        out_console.print(table)
    phases = Table(
        "phase", "cells", "workloads", "ends after", title="Phases of a run", title_justify="left"
    )
    for name in dict.fromkeys(phase.name for phase in planned.runs[0].phases):
        cells = [phase for phase in planned.runs[0].phases if phase.name == name]
        until = cells[0].until.model_dump(exclude_none=True)
        if until.pop("steady", None):
            until["steady"] = "steady state"
        ends = " or ".join(f"{value}" for value in until.values())
        phases.add_row(name, str(len(cells)), ", ".join(workloads(cells[0])), ends)
    out_console.print(phases)


def workloads(phase: PhaseSpec) -> list[str]:
    """What runs in a phase."""
    programs = [next(iter(program.model_dump(mode="json"))) for program in phase.programs or ()]
    return [*(stream.name for stream in phase.streams), *programs]


def print_bounds(world: World, planned: Plan) -> None:
    """Runs, time and bytes of one world."""
    cells = len({tuple(run.cell.items()) for run in planned.runs})
    virtual = " of virtual time" if world is World.simulated else ""
    time = (
        "no limit in time"
        if planned.time_ns_at_most is None
        else f"at most {planned.time_ns_at_most / 1e9:,.0f} s{virtual}"
    )
    out_console.print(
        f"{world.value}: {counted(len(planned.runs), 'run')} of {counted(cells, 'cell')}; "
        f"{time}; {written(world, planned)}"
    )
    searched = planned.study.search
    if searched:
        shares, limit = searched.shares or (), searched.limit
        then = f", then at most {searched.runs_at_most} for the limit" if limit else ""
        out_console.print(
            f"  and then, for each cell and repetition, {len(shares)} rates of a curve{then}"
        )
    for run in planned.runs[:1]:
        for sentence in dict.fromkeys(_core.unsupported(run)):
            out_console.print(f"  not yet: {sentence}", style="yellow")


def written(world: World, planned: Plan) -> str:
    """The bytes that a world's runs write, as a sentence."""
    if world is World.simulated:
        # The drives are models: what is written to them takes no space, and is told all the same.
        if any(run.database for run in planned.runs):
            return "writes nothing but its record"
        if planned.bytes_written_at_most is None:
            return "writes to its models without limit, and nothing else but its record"
        amount = volume(planned.bytes_written_at_most)
        return f"writes at most {amount} to its models, and nothing else but its record"
    if any(run.database for run in planned.runs):
        return "loads its data sets, copies one for each run, and writes without limit"
    laid_out = sum(planned.storage_bytes.values())
    if planned.bytes_written_at_most is None:
        return f"writes {laid_out / 1e9:.2f} GB to lay out its targets and then without limit"
    total = laid_out + planned.bytes_written_at_most
    return (
        f"writes at most {total / 1e9:.2f} GB, {laid_out / 1e9:.2f} GB of it to lay out its targets"
    )


def counted(number: int, noun: str) -> str:
    """A number and its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


@app.command("run")
def run_command(
    study_path: StudyArgument,
    world: WorldOption = None,
    on: Annotated[
        list[str] | None, typer.Option("--on", help="NAME=PATH: the real place of a storage.")
    ] = None,
    destroy: Annotated[
        list[str] | None,
        typer.Option(
            "--destroy",
            help="A file's real path, or a disk's serial number, WWN or by-id link, "
            "whose content may be lost.",
        ),
    ] = None,
    server: Annotated[
        list[str] | None,
        typer.Option("--server", help="NAME=PRODUCT: the server to use for an engine."),
    ] = None,
    event: Annotated[
        list[str] | None,
        typer.Option("--event", help="NAME=COMMAND: what makes an event happen, measured."),
    ] = None,
    bindings: Annotated[
        Path | None,
        typer.Option("--bindings", help="A TOML file of [storage], [server], [event] bindings."),
    ] = None,
    backend: Annotated[
        str,
        typer.Option(
            "--backend",
            help="What carries the requests of a measured run: auto, io_uring, portable, or null, "
            "which reads and writes nothing.",
        ),
    ] = "auto",
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder of the results. [default: tameshi-results/STUDY]"),
    ] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", min=1, help="Simulated runs at a time.")
    ] = os.cpu_count() or 1,
    lang: Annotated[str, typer.Option("--lang", help="Language of the report: en or ja.")] = "en",
    quick: QuickOption = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Remove results of an earlier run first.")
    ] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the files that stood for storages.")
    ] = False,
) -> None:
    """Run a study, resume it, and write its results and report."""
    study = read_study(study_path)
    check_word("--backend", backend, list(_core.BACKENDS))
    bound = read_bindings(bindings, on or [], server or [], event or [])
    bound = replace(bound, destroy=tuple(destroy or ()), backend=backend)
    worlds = list(dict.fromkeys(world or [World.simulated]))
    check_options(worlds, bound, lang)
    prepared = prepare(study, worlds, bound, quick=quick)
    announce(prepared)
    folder = out or default_out(study)
    if fresh and folder.exists():
        guard.remove_folder(folder)
    reproduce = [shlex.join(["tameshi", *sys.argv[1:]])]
    done = conduct(prepared, folder, err_console, jobs=jobs, reproduce=reproduce)
    if done.complete and not keep:
        remove_targets(prepared.examined.values())
    outputs.show(folder, lang, out_console, done.results)
    end(done)


def announce(prepared: Prepared) -> None:
    """What will be written, destroyed and run, before it is."""
    for chosen, planned in prepared.plans.items():
        print_bounds(chosen, planned)
        examined = prepared.examined[chosen]
        lines = [line for target in examined.targets.values() for line in target.described()]
        for place in examined.databases.values():
            lines += [f"{place.storage}: {line}" for line in place.plan.described()]
        lines += [f"{name}: {serving.described()}" for name, serving in examined.servers.items()]
        lines += [f"runs at {name}: {shlex.join(words)}" for name, words in examined.events.items()]
        for line in lines:
            out_console.print(line, markup=False, soft_wrap=True)


def end(done: Conducted) -> None:
    """The exit status of a study that is not complete."""
    if done.interrupted:
        err_console.print("Interrupted: the report holds what was done; the same command resumes.")
        raise typer.Exit(INTERRUPTED)
    if not done.complete:
        raise typer.Exit(1)


def check_options(worlds: Sequence[World], bound: Bindings, lang: str) -> None:
    """Options that contradict one another, before anything is examined."""
    if lang not in ("en", "ja"):
        raise BadInput(
            "reports don't speak this language", where="--lang", found=lang, accepted=["en", "ja"]
        )
    own = bound.backend if bound.backend != "auto" else None
    measured_only = (
        *(("--on", bound.storage), ("--destroy", bound.destroy)),
        *(("--backend", own), ("--event", bound.event)),
    )
    for option, given in measured_only:
        if given and World.measured not in worlds:
            message = "this is about measured runs, but none is asked for"
            raise BadInput(message, where=option, hint="Add --world measured.")


@app.command("predictions")
def predictions_command(
    folder: Annotated[Path, typer.Option(help="Where the predictions stand.")] = VALIDATION,
    studies: Annotated[Path, typer.Option(help="The studies to run.")] = STUDIES,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path(
        "tameshi-results/predictions"
    ),
    only: Annotated[
        list[str] | None,
        typer.Option(help="Run this study alone (repeatable)."),
    ] = None,
) -> None:
    """Run every study that lists published figures, simulated, and write down what it predicts."""
    listed = [read_study(path) for path in sorted(studies.glob("*.toml"))]
    listed = [study for study in listed if plan(study, "simulated", quick=False).study.published]
    for name in only or ():
        check_word("--only", name, [study.name for study in listed])
    listed = [study for study in listed if not only or study.name in only]
    if not listed:
        out_console.print(f"No study in {studies} lists published figures: nothing to predict.")
        return
    calibrated: dict[str, list[predictions.Calibration]] = {}
    for study in listed:
        prepared = prepare(study, [World.simulated], Bindings(), quick=False)
        own = out / study.name
        done = conduct(prepared, own, err_console, jobs=os.cpu_count() or 1, reproduce=[])
        found = done.results["published"]
        made = predictions.predictions(study.name, found, done.runs)
        calibrated[study.name] = predictions.calibrations(study.name, found, done.runs)
        new, changed = predictions.record(folder, made, date.today())
        out_console.print(f"{study.name}: {new} new, {changed} changed, {len(made)} in all")
    path = folder / "calibration.csv"
    count = predictions.write_calibrations(path, calibrated, whole=not only)
    validation_page.write_page(folder)
    out_console.print(f"Beside {count} calibration figures: {path}")


@app.command("report")
def report_command(
    folder: Annotated[Path, typer.Argument(help="A folder that `tameshi run` made.")],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="html, md or terminal; tpcc-mysql or sysbench: each run in that tool's layout.",
        ),
    ] = "html",
    lang: Annotated[str, typer.Option("--lang", help="en or ja.")] = "en",
) -> None:
    """Make results.json and the report anew from the runs of a study folder."""
    check_options([], Bindings(), lang)
    check_word("--format", form, ["html", "md", "terminal", *FORMS])
    if form in FORMS:
        outputs.read_summary(folder)
        typer.echo(as_form(form, outputs.read_runs(folder)), nl=False)
        return
    if form == "html":
        outputs.show(folder, lang, out_console)
        return
    summary, reproduce = outputs.read_summary(folder)
    runs = outputs.read_runs(folder)
    found = outputs.write_results(folder, summary, runs)
    inputs = outputs.report_inputs(found, runs, reproduce)
    if form == "md":
        typer.echo(markdown(inputs, lang), nl=False)
    else:
        out_console.print(terminal(inputs, lang))


@app.command("verify")
def verify_command(
    run: Annotated[Path, typer.Argument(help="The folder of a run with a verifying stream.")],
    on: Annotated[
        list[str] | None, typer.Option("--on", help="NAME=PATH: where a storage is now.")
    ] = None,
    after: Annotated[
        str, typer.Option("--after", help="What happened: power-cut, or crash of a program.")
    ] = "power-cut",
) -> None:
    """Check that a storage still holds what a run wrote there and had acknowledged."""
    check_word("--after", after, AFTER)
    broken = False
    for found in verify(run, read_bindings(None, on or [], []).storage):
        bad = found.broken(after)
        broken = broken or bool(bad)
        out_console.print(
            f"{found.storage}: {found.written} blocks of 4 KiB written, {found.right} right, "
            f"{len(found.findings) - len(bad)} gone that nothing promised, {len(bad)} broken",
            soft_wrap=True,
        )
        for one in bad[:SHOWN_BLOCKS]:
            out_console.print(f"  {described(one)}", soft_wrap=True)
        if len(bad) > SHOWN_BLOCKS:
            out_console.print(f"  … and {len(bad) - SHOWN_BLOCKS} more")
    if broken:
        raise typer.Exit(1)


@app.command("compare")
def compare_command(
    a: Annotated[Path, typer.Argument(help="A folder that `tameshi run` made, or a results.json.")],
    b: Annotated[Path, typer.Argument(help="Another: what is held against A.")],
    form: Annotated[str, typer.Option("--format", help="terminal, md or json.")] = "terminal",
    lang: Annotated[str, typer.Option("--lang", help="en or ja.")] = "en",
    world: Annotated[
        str, typer.Option("--world", help="One world; A:B holds A's one against B's other.")
    ] = "",
    within: Annotated[
        float, typer.Option("--within", help="Per cent that count as the same.")
    ] = 5.0,
    every: Annotated[
        bool, typer.Option("--all", help="Every metric, not the primary ones alone.")
    ] = False,
    changed: Annotated[
        list[str] | None,
        typer.Option(
            "--changed",
            help="What was changed on purpose: work, device, machine, software or settings. "
            "Other differences that could explain the result then make the two incomparable.",
        ),
    ] = None,
    fail_on: Annotated[
        str, typer.Option("--fail-on", help="never; worse: end with 1 where B surely is.")
    ] = "never",
) -> None:
    """Hold B against A: same, better or worse, by how much, and may they be compared."""
    check_options([], Bindings(), lang)
    check_word("--format", form, ["terminal", "md", "json"])
    check_word("--fail-on", fail_on, ["never", "worse"])
    options = Options(world, within / 100, every, changed or ())
    comparison = compare(read_side(a), read_side(b), options)
    if form == "json":
        typer.echo(json.dumps(comparison.as_json(), ensure_ascii=False, indent=2))
    elif form == "md":
        typer.echo(comparison_markdown(comparison.as_json(), lang), nl=False)
    else:
        out_console.print(comparison_terminal(comparison.as_json(), lang))
    raise typer.Exit(exit_status(comparison, fail_on))


@app.command("calibrate")
def calibrate_command(
    what: Annotated[
        Path,
        typer.Argument(
            help="A file, directory or drive to measure; or results: a folder of `tameshi run`, "
            "its results.json, or fio's JSON."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder of all it makes. [default: tameshi-results/cal-NAME]"),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the profile. [default: from WHAT]")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", help="volume, flash or hdd. [default: what fits best]"),
    ] = None,
    time: Annotated[
        str, typer.Option("--time", help="What measuring may take, such as `5 min`.")
    ] = "5 min",
    size: Annotated[str, typer.Option("--size", help="How much of the target is used.")] = "1 GiB",
    repetitions: Annotated[
        int, typer.Option("--repetitions", min=1, help="Runs of each cell.")
    ] = 3,
    destroy: Annotated[
        list[str] | None,
        typer.Option("--destroy", help="As with `run`: what may be lost, by its exact name."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A third of the cells.")] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the file that was worked on.")] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Remove what an earlier call measured first.")
    ] = False,
    form: Annotated[str, typer.Option("--format", help="terminal or md.")] = "terminal",
    lang: Annotated[str, typer.Option("--lang", help="en or ja.")] = "en",
) -> None:
    """Turn a drive, a file or results into a device profile, and say how well it fits."""
    check_options([], Bindings(), lang)
    check_word("--format", form, ["terminal", "md"])
    if model is not None:
        check_word("--model", model, list(calibrate.MODELS))
    called = calibrate.plain_name(name or what.absolute().stem)
    asked = calibrate.Asked(
        *(what, out or Path("tameshi-results") / f"cal-{called}", called, model),
        size_bytes=size_of("--size", size),
        budget_s=time_of("--time", time) / 1e9,
        repetitions=repetitions,
        quick=quick,
        destroy=tuple(destroy or ()),
        keep=keep,
        fresh=fresh,
    )
    if not calibrate.is_results(what):
        prepared = calibrate.measuring(asked)
        announce(prepared)
        reproduce = [shlex.join(["tameshi", *sys.argv[1:]])]
        end(calibrate.measure(prepared, asked, err_console, reproduce))
    done = calibrate.calibrate(asked, err_console)
    if form == "md":
        typer.echo(fit_markdown(done.document, lang), nl=False)
    else:
        out_console.print(fit_terminal(done.document, lang))
    err_console.print(f"Profile: {done.profile.resolve()}", markup=False, soft_wrap=True)
    err_console.print(f"Report: {done.report.resolve()}", markup=False, soft_wrap=True)


def check_word(option: str, found: str, accepted: Sequence[str]) -> None:
    """An option's value that must be one of a few words."""
    if found not in accepted:
        raise BadInput("there is no such choice", where=option, found=found, accepted=accepted)


@app.command("fio", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def fio_command(
    context: typer.Context,
    world: Annotated[
        World, typer.Option("--world", help="measured, or simulated on --device.")
    ] = World.measured,
    device: Annotated[
        str | None,
        typer.Option("--device", help="The profile that stands for every file, if simulated."),
    ] = None,
    destroy: Annotated[
        list[str] | None,
        typer.Option("--destroy", help="As with `run`: what may be lost, by its exact name."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder of the record. [default: tameshi-results/fio-NAME]"),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the files that jobs worked on.")
    ] = False,
    study: Annotated[
        bool, typer.Option("--study", help="Print the study that the jobs become; run nothing.")
    ] = False,
) -> None:
    """Run fio job files and --key=value options; results in fio's own form on standard output."""
    asked = Asked(world, device, destroy or (), out, keep, study)
    raise typer.Exit(run_fio(context.args, asked, err_console))


@app.command("doctor")
def doctor_command(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Places to measure on; by default the current folder.", readable=False),
    ] = None,
    lang: Annotated[str, typer.Option("--lang", help="en or ja.")] = "en",
    as_data: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what this machine can do in each world, what is missing, and how to mend it."""
    diagnosis = doctor(paths or [], lang)
    if as_data:
        typer.echo(json.dumps(as_json(diagnosis), ensure_ascii=False, indent=2))
    else:
        render(diagnosis, out_console)
    raise typer.Exit(diagnosis.exit_status)


def main() -> None:
    """Run the command line; an expected error is one message and its exit status."""
    try:
        app()
    except TameshiError as error:
        err_console.print(str(error), markup=False, soft_wrap=True)
        sys.exit(error.exit_status)
