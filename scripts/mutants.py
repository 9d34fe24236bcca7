"""Planted bugs: run, for each mutant of scripts/mutants.toml, the test that must find it.

    python scripts/mutants.py [NAME …] [--keep-going] [--write] [--python PYTHON]
    python scripts/mutants.py --list
    python scripts/mutants.py --check

A run copies the working tree to build/mutants/tree and plants one bug at a time in the copy. It
stops at the first mutant that survives or cannot be judged, unless `--keep-going`. `--write` writes
the results to docs/validation/mutants.md. `--unchanged` runs the tests without the bugs: all must
pass. `--check` builds nothing: each bug still applies, and each test exists.

A red test counts for its mutant only if the test passes without the bug: run `make test` first.
"""

from __future__ import annotations

import argparse
import ast
import fcntl
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, Literal

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "scripts" / "mutants.toml"
PAGE = ROOT / "docs" / "validation" / "mutants.md"
WORK = Path("build") / "mutants"
LONGEST_S = 1200.0
"""Time limit of one command, builds included."""
TERMINATION_S = 5.0
"""Time between SIGTERM and SIGKILL for an interrupted command."""
COMPILED = "_tameshi"
"""Compiled module of the package; it is not in git."""
LAST_LINES = 15
NOT_RUN = ("not run", "")

CARGO_FAILED, PYTEST_FAILED = 101, 1
"""Exit statuses of a failed test; cargo has the same one for a compile error."""
CARGO_RED = re.compile(r"^test result: FAILED", re.MULTILINE)
CARGO_PASSED = re.compile(r"^test result: ok\. ([1-9]\d*) passed", re.MULTILINE)
CARGO_ERROR = re.compile(r"^error(?:\[E\d+\])?:.*", re.MULTILINE)
PYTEST_RED = re.compile(r"\b[1-9]\d* failed\b")
PYTEST_PASSED = re.compile(r"\b[1-9]\d* passed\b")

Tool = Literal["cargo", "pytest"]
Result = Literal["red", "survived", "error"]


class Unusable(Exception):
    """Unusable mutant or environment; the text is for the user."""


@dataclass(frozen=True)
class Mutant:
    """Bug in one place of one file, and the test that must find it."""

    name: str
    bug: str
    file: str
    old: str
    new: str
    test: str

    @property
    def tool(self) -> Tool:
        """Return the program that runs the test."""
        return "cargo" if self.test.startswith("cargo ") else "pytest"

    def planted(self, text: str) -> str:
        """Return the text of the file with the bug; raise `Unusable` unless `old` occurs exactly
        once."""
        if (times := text.count(self.old)) != 1:
            raise Unusable(f"{self.name}: `old` occurs {times} times in {self.file}, expected once")
        return text.replace(self.old, self.new)


@dataclass(frozen=True)
class Verdict:
    """Result of one mutant; `reason` explains an error."""

    result: Result
    reason: str = ""


def read_mutants(table: Path = TABLE) -> list[Mutant]:
    """Mutants of a table, in its order."""
    return [Mutant(**entry) for entry in tomllib.loads(table.read_text("utf-8"))["mutant"]]


def chosen(mutants: Sequence[Mutant], names: Sequence[str]) -> list[Mutant]:
    """Mutants of these names, in the order of the table; without names, all."""
    known = [mutant.name for mutant in mutants]
    for name in names:
        if name not in known:
            raise Unusable(f"no mutant `{name}`, accepted: {', '.join(known)}")
    return [mutant for mutant in mutants if not names or mutant.name in names]


# --- Commands ----------------------------------------------------------------------------------


def pytest_node(root: Path, test: str) -> tuple[Path, str]:
    """File (relative to the root) and node of `pytest FILE::NODE`."""
    name, separator, node = test.removeprefix("pytest ").partition("::")
    found = sorted(root.glob(f"tests/**/{name}"))
    if len(found) != 1 or not separator:
        raise Unusable(f"`{test}`: {len(found)} files below tests/, expected one FILE::NODE")
    return found[0].relative_to(root), node


def cargo_source(root: Path, test: str) -> tuple[Path, str]:
    """Source file and function of `cargo -p PACKAGE (--lib | --test NAME) PATH`."""
    match shlex.split(test):
        case ["cargo", "-p", package, "--lib", path]:
            top, lone = "src", "lib.rs"
        case ["cargo", "-p", package, "--test", target, path]:
            top, lone = f"tests/{target}", "main.rs"
        case _:
            raise Unusable(f"`{test}`: expected cargo -p PACKAGE (--lib | --test NAME) PATH")
    *modules, function = path.split("::")
    folder = root / "crates" / package.removeprefix("tameshi-") / top
    candidates = []
    if modules[-1:] == ["tests"]:
        candidates = [folder.joinpath(*modules).with_suffix(".rs")]
        modules.pop()
    inner = folder.joinpath(*modules)
    candidates += [inner.with_suffix(".rs"), inner / "mod.rs"] if modules else [folder / lone]
    for source in candidates:
        if source.is_file():
            return source, function
    raise Unusable(f"`{test}`: no source file for module {'::'.join(modules)}")


def command_of(mutant: Mutant, root: Path, python: str) -> list[str]:
    """Words of the command that runs a mutant's test in a tree."""
    if mutant.tool == "cargo":
        _, *target, path = shlex.split(mutant.test)
        return ["cargo", "test", "--locked", "--quiet", *target, path, "--", "--exact"]
    file, node = pytest_node(root, mutant.test)
    return [python, "-m", "pytest", "-p", "no:cacheprovider", f"{file}::{node}"]


def judge(tool: Tool, status: int, output: str) -> Verdict:
    """Verdict on a mutant from its command's exit status and output."""
    if tool == "cargo":
        failed = status == CARGO_FAILED and CARGO_RED.search(output)
        passed = CARGO_PASSED.search(output)
    else:
        failed = status == PYTEST_FAILED and PYTEST_RED.search(output)
        passed = PYTEST_PASSED.search(output)
    if failed:
        return Verdict("red")
    if status == 0:
        return Verdict("survived") if passed else Verdict("error", "no test ran")
    if tool == "cargo" and (error := CARGO_ERROR.search(output)):
        return Verdict("error", error[0])
    return Verdict("error", f"the command ended with status {status}")


# --- Checks without a build --------------------------------------------------------------------


def problems(root: Path, mutants: Sequence[Mutant]) -> Iterator[str]:
    """Reasons why mutants could not be planted or judged; reads files only."""
    names = [mutant.name for mutant in mutants]
    yield from (f"{name}: name used twice" for name in sorted({*names}) if names.count(name) > 1)
    for mutant in mutants:
        try:
            check_bug(root, mutant)
            check_test(root, mutant)
        except Unusable as problem:
            text = str(problem)
            yield text if text.startswith(f"{mutant.name}: ") else f"{mutant.name}: {text}"


def check_bug(root: Path, mutant: Mutant) -> None:
    """Raise `Unusable` unless the bug applies, changes the file, and suits the test's tool."""
    path = root / mutant.file
    if not path.is_file():
        raise Unusable(f"no file {mutant.file}")
    if mutant.tool != ("cargo" if path.suffix == ".rs" else "pytest"):
        raise Unusable(f"{mutant.tool} does not rebuild {mutant.file}")
    text = path.read_text("utf-8")
    changed = mutant.planted(text)
    if changed == text:
        raise Unusable("`new` equals `old`")
    if path.suffix == ".py":
        try:
            ast.parse(changed)
        except SyntaxError as error:
            raise Unusable(f"{mutant.file} has a syntax error with the bug: {error}") from None


def check_test(root: Path, mutant: Mutant) -> None:
    """Raise `Unusable` unless the test's file and function exist."""
    if mutant.tool == "cargo":
        source, function = cargo_source(root, mutant.test)
        pattern = rf"\bfn {function}\b"
    else:
        file, node = pytest_node(root, mutant.test)
        source, function = root / file, node.partition("[")[0].rpartition("::")[2]
        pattern = rf"\bdef {re.escape(function)}\("
    if not re.search(pattern, source.read_text("utf-8")):
        raise Unusable(f"no test {function} in {source.relative_to(root)}")


# --- The scratch tree --------------------------------------------------------------------------


@contextmanager
def scratch_tree(root: Path, python: str | None) -> Iterator[Path]:
    """Copy of the working tree, removed afterwards; one at a time per working tree.

    Its path stays the same, so that cargo rebuilds no third-party library. Copies have new times:
    cargo must not consider files of an earlier mutant in the target directory fresh.
    `python`: the interpreter whose compiled modules the copy needs.
    """
    work = root / WORK
    work.mkdir(parents=True, exist_ok=True)
    with open(work / "lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Unusable(f"{work}: another run of this script is in progress") from None
        tree = work / "tree"
        shutil.rmtree(tree, ignore_errors=True)
        try:
            copy_sources(root, tree)
            if python:
                copy_module(python, tree)
            yield tree
        finally:
            shutil.rmtree(tree, ignore_errors=True)


def copy_sources(root: Path, tree: Path) -> None:
    """Copy every file that is in git or would be, as it is in the working tree."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(
        command, cwd=root, check=True, capture_output=True, encoding="utf-8"
    ).stdout
    for name in sorted({*listed.split("\0")} - {""}):
        source, copy = root / name, tree / name
        if source.is_symlink() or source.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy, follow_symlinks=False)


def copy_module(python: str, tree: Path) -> None:
    """Copy the compiled module that an interpreter imports; raises `Unusable` without it."""
    script = (
        "import importlib.util as u\n"
        f"found = u.find_spec('tameshi.{COMPILED}')\n"
        "print(found.origin if found else '', end='')"
    )
    done = subprocess.run(
        [python, "-c", script], capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode or not done.stdout:
        raise Unusable(f"{python} has no compiled module of tameshi: run `make test`, or --python")
    shutil.copy(done.stdout, tree / "python" / "tameshi" / f"{COMPILED}.abi3.so")


def environment_in(root: Path, tree: Path) -> dict[str, str]:
    """Environment of the commands: sources of the tree first, nothing cached among them."""
    kept = {name: value for name, value in os.environ.items() if name != "CI"}  # a skip is no red
    return {
        "CARGO_TARGET_DIR": str(root / WORK / "target"),
        **kept,
        "CARGO_TERM_COLOR": "never",
        "PROPTEST_MAX_SHRINK_ITERS": "0",
        "PYTHONPATH": str(tree / "python"),
        # A pyc is fresh for the same second and size: a mutant's could serve the next one.
        "PYTHONDONTWRITEBYTECODE": "1",
    }


# --- Runs --------------------------------------------------------------------------------------


def execute(command: Sequence[str], tree: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """Exit status and output of a command; its whole process group ends with it."""
    process = subprocess.Popen(
        command,
        cwd=tree,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=LONGEST_S)
    except subprocess.TimeoutExpired:
        raise Unusable(f"the command took longer than {LONGEST_S:.0f} s") from None
    finally:
        end_group(process)
    return process.returncode, output


def end_group(process: subprocess.Popen[str]) -> None:
    """Terminate the rest of a command's process group, and wait for the command."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(TERMINATION_S)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def try_mutant(
    mutant: Mutant,
    tree: Path,
    environment: Mapping[str, str],
    python: str,
    *,
    unchanged: bool = False,
) -> tuple[Verdict, str]:
    """Plant a bug in the tree, run its test, and remove the bug; return verdict and output."""
    path = tree / mutant.file
    text = path.read_text("utf-8")
    if not unchanged:
        path.write_text(mutant.planted(text), "utf-8")
    try:
        status, output = execute(command_of(mutant, tree, python), tree, environment)
    except Unusable as problem:
        return Verdict("error", str(problem)), ""
    finally:
        if not unchanged:
            path.write_text(text, "utf-8")
    return judge(mutant.tool, status, output), output


class Progress:
    """Lines about the mutants of a run: results, elapsed time, estimate of the time left."""

    def __init__(self, mutants: Sequence[Mutant], known_s: Mapping[str, float], out: IO[str]):
        self.mutants, self.known_s, self.out = mutants, known_s, out
        self.begin_s = time.monotonic()
        self.done: dict[str, tuple[Verdict, float]] = {}

    def starts(self, mutant: Mutant) -> None:
        """Announce the current mutant and the expected end of the run."""
        place = f"{len(self.done) + 1}/{len(self.mutants)}"
        elapsed = minutes(time.monotonic() - self.begin_s)
        left = self.left_s()
        about = f", about {minutes(left)} left" if left is not None else ""
        print(f"[{place}] {mutant.name} … ({elapsed}{about})", file=self.out, flush=True)

    def ends(self, mutant: Mutant, verdict: Verdict, seconds: float) -> None:
        """Report the result of a mutant."""
        self.done[mutant.name] = verdict, seconds
        reason = f": {verdict.reason}" if verdict.reason else ""
        print(f"      {verdict.result}, {seconds:.1f} s{reason}", file=self.out, flush=True)

    def left_s(self) -> float | None:
        """Return an estimate from the recorded times, scaled by the pace so far; None without
        any."""
        spent = {name: seconds for name, (_, seconds) in self.done.items()}
        times = {**self.known_s, **spent}
        if not times:
            return None
        mean = sum(times.values()) / len(times)
        expected = sum(self.known_s.get(name, spent[name]) for name in spent)
        pace = sum(spent.values()) / expected if expected else 1.0
        names = [mutant.name for mutant in self.mutants if mutant.name not in spent]
        return pace * sum(self.known_s.get(name, mean) for name in names)

    def summary(self) -> str:
        """Count of each result, and the mutants that have none."""
        results = [verdict.result for verdict, _ in self.done.values()]
        counts = [f"{results.count(r)} {r}" for r in ("red", "survived", "error") if r in results]
        left = len(self.mutants) - len(results)
        parts = [*counts, f"{left} not run"] if left else counts
        return f"{', '.join(parts)}; {minutes(time.monotonic() - self.begin_s)}"


def minutes(seconds: float) -> str:
    """Time as minutes and seconds."""
    total = round(seconds)
    return f"{total // 60} min {total % 60:02} s" if total >= 60 else f"{total} s"


# --- The page ----------------------------------------------------------------------------------

HEAD = """# Planted bugs, and the tests that find them

<!-- written by `python scripts/mutants.py --write` -->

A test is worth what it finds. Each row is a mutant: a realistic bug in one line of the sources. The
named test must fail with the bug. `make mutants` plants the bugs one at a time in a copy of the
working tree.

```
python scripts/mutants.py guard raid-layout   # only these mutants
python scripts/mutants.py --list              # names and bugs
python scripts/mutants.py --check             # no builds: each bug applies, each test exists
```

- *red*: the test failed, as it must. *survived*: the test passed with the bug. *error*: no verdict,
  for example because the bug does not compile.
- `make test` must pass before: a test that fails anyway would count as red.
- `scripts/mutants.toml` holds the exact texts. Seconds include the build of what the bug changes.
- `build/mutants/target` keeps compiled code for the next run. `CARGO_TARGET_DIR` replaces it.

Limits: one bug per area does not measure how many bugs the tests would find.

"""
COLUMNS = ("mutant", "bug", "file", "test", "result", "seconds")


def page_of(mutants: Sequence[Mutant], results: Mapping[str, tuple[str, str]]) -> str:
    """The page, with result and seconds by mutant."""
    lines = [row(COLUMNS), "|" + "---|" * len(COLUMNS)]
    lines += [row([*cells(mutant), *results.get(mutant.name, NOT_RUN)]) for mutant in mutants]
    return HEAD + "\n".join(lines) + "\n"


def results_of(mutants: Sequence[Mutant], page: str) -> dict[str, tuple[str, str]]:
    """Result and seconds of the rows whose mutants are still described in the same way."""
    found = {}
    for line in page.splitlines():
        parts = [part.strip() for part in line.strip("|").split(" | ")]
        for mutant in mutants:
            if parts[:-2] == cells(mutant):
                found[mutant.name] = parts[-2], parts[-1]
    return found


def cells(mutant: Mutant) -> list[str]:
    """Columns that describe a mutant."""
    return [mutant.name, mutant.bug, f"`{mutant.file}`", f"`{mutant.test}`"]


def row(parts: Sequence[str]) -> str:
    """A row in Markdown."""
    return "| " + " | ".join(parts) + " |"


def read_results(mutants: Sequence[Mutant]) -> dict[str, tuple[str, str]]:
    """Return the results on the page."""
    return results_of(mutants, PAGE.read_text("utf-8")) if PAGE.exists() else {}


# --- Command line ------------------------------------------------------------------------------


def run(mutants: Sequence[Mutant], options: argparse.Namespace, progress: Progress) -> None:
    """Try mutants until one is not red, or with `--keep-going` all."""
    python = options.python if any(mutant.tool == "pytest" for mutant in mutants) else None
    wanted: Result = "survived" if options.unchanged else "red"
    with scratch_tree(ROOT, python) as tree:
        environment = environment_in(ROOT, tree)
        for mutant in mutants:
            progress.starts(mutant)
            begin_s = time.monotonic()
            verdict, output = try_mutant(
                mutant, tree, environment, options.python, unchanged=options.unchanged
            )
            progress.ends(mutant, verdict, time.monotonic() - begin_s)
            if verdict.result != wanted:
                print("\n".join(output.splitlines()[-LAST_LINES:]), file=progress.out)
                if not options.keep_going:
                    return


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Options of the command line."""
    parser = argparse.ArgumentParser(description="Plant bugs, and see whether tests find them.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these mutants")
    parser.add_argument("--keep-going", action="store_true", help="continue after a survivor")
    parser.add_argument("--write", action="store_true", help=f"update {PAGE.relative_to(ROOT)}")
    parser.add_argument("--python", default=sys.executable, help="interpreter that runs pytest")
    parser.add_argument("--unchanged", action="store_true", help="run the tests without the bugs")
    parser.add_argument("--list", action="store_true", help="names and bugs")
    parser.add_argument("--check", action="store_true", help="bugs apply and tests exist")
    options = parser.parse_args(arguments)
    if options.write and options.unchanged:
        parser.error("--write needs results with the bugs, so not --unchanged")
    return options


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0 if every mutant is red, 1 if not, 2 for a problem, 130 after Ctrl-C."""
    options = parsed(arguments)
    try:
        every = read_mutants()
        mutants = chosen(every, options.names)
        if options.list:
            width = max(len(mutant.name) for mutant in mutants)
            print("\n".join(f"{mutant.name:{width}}  {mutant.bug}" for mutant in mutants))
            return 0
        found = list(problems(ROOT, mutants))
        if options.check or found:
            print("\n".join(found) or f"{len(mutants)} mutants apply, and their tests exist")
            return 2 if found else 0
        return tried(every, mutants, options)
    except Unusable as problem:
        print(problem, file=sys.stderr)
        return 2


def tried(every: Sequence[Mutant], mutants: Sequence[Mutant], options: argparse.Namespace) -> int:
    """Run mutants and report them, also when interrupted; the exit status."""
    before = read_results(every)
    known_s = {name: float(seconds) for name, (_, seconds) in before.items() if seconds}
    progress = Progress(mutants, known_s, sys.stdout)
    interrupted = False
    previous = signal.signal(signal.SIGTERM, interrupt)
    try:
        run(mutants, options, progress)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        signal.signal(signal.SIGTERM, previous)
    print(("interrupted: " if interrupted else "") + progress.summary())
    if options.write and progress.done:
        done = {name: (v.result, f"{s:.1f}") for name, (v, s) in progress.done.items()}
        PAGE.write_text(page_of(every, {**before, **done}), "utf-8")
    if interrupted:
        return 130
    wanted = "survived" if options.unchanged else "red"
    results = [verdict.result for verdict, _ in progress.done.values()]
    return 0 if results == [wanted] * len(mutants) else 1


def interrupt(_signal: int, _frame: FrameType | None) -> None:
    """Handle SIGTERM as Ctrl-C."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
