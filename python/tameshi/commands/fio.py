"""`tameshi fio`: fio job files and options, run by Tameshi and reported in fio's formats."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from tameshi import fio, guard
from tameshi.commands.consoles import ERR
from tameshi.commands.options import check_word
from tameshi.core.errors import BadInput, RunFailed
from tameshi.core.exit_status import ExitStatus
from tameshi.core.reasons import distinct, reason
from tameshi.core.spec_types import World
from tameshi.report.words.text import Text
from tameshi.study.bindings import Bindings
from tameshi.study.file import StudyFile
from tameshi.workflow import study_folder
from tameshi.workflow.execute import Conducted, conduct, remove_targets
from tameshi.workflow.prepare import prepare

TERSE = 3
"""Supported version of fio's terse output."""
_OURS = re.compile(rb"fio-|3;fio-|\s*\{\s*\"(schema_version|fio version)\"|\d+, \d+, \d+, \d+|$")
"""Start of a file that an earlier run or fio wrote as output."""
_KEYS = f"""\
Keys that are carried out: {", ".join(sorted(fio.TRANSLATED))}.

Keys that change nothing here: {", ".join(sorted(fio.NOTED))}.

All others are refused with the reason, unless they are at fio's default."""


class FioCommand(typer.core.TyperCommand):
    """Command that takes long options with one dash, as fio does, and names its job files."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments."""
        return super().parse_args(ctx, fio.with_two_dashes(args))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line."""
        return ["[OPTIONS]", "[JOBFILE]...", "[--KEY=VALUE]..."]


app = typer.Typer(add_completion=False)


@dataclass(frozen=True)
class Asked:
    """Options of the command line apart from its jobs."""

    world: World
    device: str | None
    destroy: Sequence[str]
    out: Path | None
    keep: bool
    study: bool
    formats: Sequence[str]
    output: Path | None
    sections: Sequence[str]
    readonly: bool
    parse_only: bool


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(fio.fio_version())
        raise typer.Exit


@app.command(
    cls=FioCommand,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    epilog=_KEYS,
)
def fio_command(
    context: typer.Context,
    world: Annotated[
        World, typer.Option("--world", help="World; other than measured needs --device.")
    ] = World.measured,
    device: Annotated[
        str | None,
        typer.Option("--device", help="Device profile for every file; not in the measured world."),
    ] = None,
    destroy: Annotated[
        list[str] | None,
        typer.Option(
            "--destroy",
            help="As with `run`: exact name of the file or drive whose content may be destroyed.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder of the record. [default: tameshi-results/fio-NAME]"),
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the job files' target files.")] = False,
    study: Annotated[
        bool, typer.Option("--study", help="Print the equivalent study without running it.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File of the results, as in fio.")
    ] = None,
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--output-format",
            "-F",
            help="Output formats, separated by commas: normal, terse, json, json+.",
        ),
    ] = None,
    minimal: Annotated[
        bool, typer.Option("--minimal", "-m", help="Terse output, as --output-format=terse.")
    ] = False,
    terse_version: Annotated[
        int, typer.Option("--terse-version", help=f"Version of terse output: {TERSE}.")
    ] = TERSE,
    sections: Annotated[
        list[str] | None,
        typer.Option("--section", "-x", help="Section of a job file to run (repeatable)."),
    ] = None,
    readonly: Annotated[
        bool, typer.Option("--readonly", "-r", help="Refuse jobs that write.")
    ] = False,
    parse_only: Annotated[
        bool, typer.Option("--parse-only", "-P", help="Check the jobs without running them.")
    ] = False,
    _: Annotated[
        bool,
        typer.Option(
            *("--version", "-v"),
            callback=_print_version,
            is_eager=True,
            help="Show the version of fio's formats and of Tameshi, and exit.",
        ),
    ] = False,
) -> None:
    """Run fio job files and --key=value options, with output in fio's formats."""
    check_word("--terse-version", str(terse_version), [str(TERSE)])
    chosen = fio.formats_of(["terse"] if minimal else formats or [])
    where = (out, keep, study, chosen, output)
    asked = Asked(world, device, destroy or (), *where, sections or (), readonly, parse_only)
    raise typer.Exit(run_fio(context.args, asked, ERR))


def run_fio(arguments: Sequence[str], asked: Asked, console: Console) -> int:
    """Run the jobs named by the arguments; return the exit status.

    Results go to standard output or `--output`, everything else to `console`. Raises `BadInput` or
    `GuardRefusal` before anything is created.
    """
    device = _device(asked)
    jobs, name = _jobs(arguments, asked.sections, device)
    if asked.readonly and (writer := next((job for job in jobs if job.changes), None)):
        raise BadInput(
            "--readonly forbids this job, which writes", where=writer.text.where, key="rw"
        )
    translation = fio.translate(jobs, name, device)
    if asked.study:
        typer.echo(translation.study, nl=False)
        return 0
    for note in translation.notes:
        console.print(f"note: {note}", soft_wrap=True)
    study = StudyFile(name, Path(f"{name} (as a study)"), translation.study)
    measured = asked.world is World.measured
    bindings = Bindings(translation.paths if measured else {}, destroy=tuple(asked.destroy))
    prepared = prepare(study, [asked.world], bindings, quick=False)
    for examined in prepared.examined.values():
        for target in examined.targets.values():
            for line in target.described():
                console.print(line, soft_wrap=True)
    if asked.parse_only:
        return 0
    folder = asked.out or Path("tameshi-results") / f"fio-{name}"
    if folder.exists():
        guard.remove_folder(folder)
    reproduce = [shlex.join(["tameshi", *sys.argv[1:]])]
    done = conduct(prepared, folder, console, jobs=1, reproduce=reproduce)
    if done.complete and not asked.keep:
        remove_targets(prepared.examined.values(), folder)
    status = _tell(done, translation, folder, asked, console)
    if done.interrupted:
        return ExitStatus.INTERRUPTED
    return status or (ExitStatus.DONE if done.complete else ExitStatus.FAILED)


def _device(asked: Asked) -> str | None:
    """Return the profile that replaces every file, except in the measured world."""
    if asked.world is not World.measured:
        if not asked.device:
            message = "a run on modelled drives needs a device profile"
            raise BadInput(
                message,
                where="--device",
                found="nothing",
                accepted=["the name of a device profile, see `tameshi devices`"],
            )
        return asked.device
    if asked.device:
        message = "--device does not apply to the measured world"
        raise BadInput(message, where="--device", found=asked.device, hint="Add --world simulated.")
    return None


def _jobs(
    given: Sequence[str], sections: Sequence[str], device: str | None
) -> tuple[list[fio.Job], str]:
    """Return all jobs of files and command line, and a common name."""
    first, named, files = fio.parse_arguments(given)
    texts = [job.with_own(first) for file in files for job in fio.read_job_file(file)]
    texts += [replace(job, shared=(*first, *job.shared)) for job in named]
    if sections:
        unknown = [section for section in sections if section not in {t.name for t in texts}]
        if unknown:
            accepted = [text.name for text in texts]
            message = "no job has this name"
            raise BadInput(message, where="--section", found=unknown[0], accepted=accepted)
        texts = [text for text in texts if text.name in sections]
    if not texts:
        accepted = ["a job file", "--name=NAME --rw=… --size=…"]
        raise BadInput("no job given", where="tameshi fio", found="nothing", accepted=accepted)
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", files[0].stem if files else texts[0].name) or "job"
    return fio.read_jobs(texts, lambda jobs: fio.translate(jobs, name, device)), name


def _printed(form: str, document: Mapping[str, Any], translation: fio.Translation) -> str:
    """Return results in one of fio's output formats."""
    match form:
        case "normal":
            return fio.fio_text(document, translation)
        case "terse":
            return fio.fio_terse(document)
    return json.dumps(document, indent=2) + "\n"


def _tell(
    done: Conducted,
    translation: fio.Translation,
    folder: Path,
    asked: Asked,
    console: Console,
) -> int:
    """Write results, logs and report; return the exit status.

    1 after an error of a job, 3 if the record is invalid.
    """
    runs = study_folder.read_runs(folder)
    usable = [run for run in runs.runs if run.outcome["status"] != "failed"]
    if not usable:
        ended = distinct(run.outcome["reason"] for run in runs.runs) or [reason("stopped")]
        raise RunFailed(f"the jobs left no results: {'; '.join(Text().reasons(ended))}")
    verdict = _report(folder, runs)
    console.print(f"Record and report: {folder.resolve()}", soft_wrap=True)
    chosen, why = fio.best_of(usable, translation)
    if why:
        console.print(f"latency_target: {why}", soft_wrap=True)
    document = fio.fio_json(chosen, translation, bins="json+" in asked.formats)
    document["tameshi"] = {"verdict": verdict, "record": str(folder.resolve())}
    text = "".join(_printed(form, document, translation) for form in asked.formats)
    for name, rows in fio.fio_logs(chosen, translation).items():
        _write(Path(name), rows)
    if asked.output:
        _write(asked.output, text)
    else:
        typer.echo(text, nl=False)
    broken = fio.errors_of(chosen, translation)
    for sentence in broken:
        console.print(f"error: {sentence}", soft_wrap=True)
    for words in Text().reasons(verdict["reasons"]):
        console.print(f"{verdict['level']}: {words}", soft_wrap=True)
    if broken:
        return ExitStatus.FAILED
    return ExitStatus.INVALID if verdict["level"] == "invalid" else ExitStatus.DONE


def _report(folder: Path, runs: study_folder.StudyRuns) -> dict[str, Any]:
    """Write results.json and the report; return the verdict."""
    summary, reproduce = study_folder.read_summary(folder)
    results = study_folder.write_results(folder, summary, runs)
    study_folder.write_html(folder, study_folder.report_inputs(results, runs.runs, reproduce), "en")
    return dict(results["verdict"])


def _write(path: Path, text: str) -> None:
    """Write results to a path of a job file or option; replace only earlier results."""
    guard.write_output(path, text.encode(), lambda beginning: bool(_OURS.match(beginning)))
