"""Planted bugs of scripts/mutants.toml: each applies, its test exists, its result is judged."""

from __future__ import annotations

import dataclasses
import importlib.util
import io
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

CARGO_FAILURE = "\nrunning 1 test\nF\ntest result: FAILED. 0 passed; 1 failed; 0 ignored\n"
CARGO_SUCCESS = "\nrunning 1 test\n.\ntest result: ok. 1 passed; 0 failed; 0 ignored\n"
CARGO_NOTHING = "\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored\n"
NO_COMPILE = "error[E0308]: mismatched types\nerror: could not compile `tameshi-sim` (lib)\n"
ABORTED = "error: test failed, to rerun pass `-p tameshi-sim --lib`\n(signal: 6, SIGABRT)\n"


@pytest.fixture(scope="module")
def mutants(root: Path) -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("mutants", root / "scripts" / "mutants.py")
    assert spec and spec.loader
    module = sys.modules["mutants"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small tree: a function, its test, a crate with a test inside and one outside."""
    texts = {
        "python/sum.py": "def total(a, b):\n    return a + b\n",
        "tests/unit/test_sum.py": (
            "import runpy\n\n\n"
            "def test_total():\n"
            "    assert runpy.run_path('python/sum.py')['total'](2, 2) == 4\n\n\n"
            "def test_zero():\n"
            "    assert runpy.run_path('python/sum.py')['total'](0, 0) == 0\n"
        ),
        "crates/base/src/lib.rs": "mod sums;\n",
        "crates/base/src/sums.rs": "fn total() {}\nmod tests {\n    fn total_is_right() {}\n}\n",
        "crates/base/tests/it/whole.rs": "fn all_is_right() {}\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def mutant(mutants: ModuleType, **changes: str) -> Any:
    """A mutant of the small tree."""
    whole = mutants.Mutant(
        name="sum",
        bug="a sum is a product",
        file="python/sum.py",
        old="a + b",
        new="a * b + 1",
        test="pytest test_sum.py::test_total",
    )
    return dataclasses.replace(whole, **changes)


def test_each_mutant_applies_and_its_test_exists(mutants: ModuleType, root: Path) -> None:
    table = mutants.read_mutants()
    assert list(mutants.problems(root, table)) == []
    assert len(table) >= 20


def test_page_of_mutants_is_fresh(mutants: ModuleType) -> None:
    table, page = mutants.read_mutants(), mutants.PAGE.read_text(encoding="utf-8")
    results = mutants.results_of(table, page)
    assert page == mutants.page_of(table, results), "stale: python scripts/mutants.py --write"
    assert {result for result, _ in results.values()} <= {"red", "not run"}


@pytest.mark.parametrize(
    ("tool", "status", "output", "result", "reason"),
    [
        ("cargo", 101, CARGO_FAILURE, "red", ""),
        ("cargo", 0, CARGO_SUCCESS, "survived", ""),
        ("cargo", 0, CARGO_NOTHING, "error", "no test ran"),
        ("cargo", 101, NO_COMPILE, "error", "error[E0308]: mismatched types"),
        ("cargo", 101, ABORTED, "error", "error: test failed, to rerun"),
        ("cargo", -9, "", "error", "the command ended with status -9"),
        ("pytest", 1, "F\n1 failed in 0.10s\n", "red", ""),
        ("pytest", 1, "F.\n1 failed, 1 passed in 0.10s\n", "red", ""),
        ("pytest", 1, "E\n1 error in 0.10s\n", "error", "the command ended with status 1"),
        ("pytest", 0, ".\n1 passed in 0.10s\n", "survived", ""),
        ("pytest", 0, "s\n1 skipped in 0.10s\n", "error", "no test ran"),
        ("pytest", 2, "Interrupted: 1 error\n", "error", "the command ended with status 2"),
        ("pytest", 3, "", "error", "the command ended with status 3"),
        ("pytest", 4, "not found\n", "error", "the command ended with status 4"),
        ("pytest", 5, "1 deselected\n", "error", "the command ended with status 5"),
    ],
)
def test_exit_status_and_output_decide(
    mutants: ModuleType, tool: str, status: int, output: str, result: str, reason: str
) -> None:
    verdict = mutants.judge(tool, status, output)
    assert verdict.result == result
    assert verdict.reason.startswith(reason) and bool(verdict.reason) == bool(reason)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"file": "python/gone.py"}, "sum: no file python/gone.py"),
        ({"old": "a - b"}, "sum: `old` occurs 0 times in python/sum.py, expected once"),
        ({"old": "a"}, "sum: `old` occurs 3 times in python/sum.py, expected once"),
        ({"new": "a + b"}, "sum: `new` equals `old`"),
        ({"new": "a +"}, "sum: python/sum.py has a syntax error with the bug: "),
        ({"test": "pytest test_gone.py::test_total"}, "sum: `pytest test_gone.py::test_total`: 0"),
        ({"test": "pytest test_sum.py"}, "sum: `pytest test_sum.py`: 1 files below tests/"),
        ({"test": "pytest test_sum.py::test_gone[1]"}, "sum: no test test_gone in tests/unit"),
        (
            {"test": "cargo -p tameshi-base --lib sums::tests::total_is_right"},
            "sum: cargo does not rebuild python/sum.py",
        ),
    ],
)
def test_unusable_mutant_is_named_with_its_reason(
    mutants: ModuleType, tree: Path, changes: dict[str, str], said: str
) -> None:
    (found,) = mutants.problems(tree, [mutant(mutants, **changes)])
    assert found.startswith(said)


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("-p tameshi-base --lib sums::tests::total_is_right", None),
        ("-p tameshi-base --test it whole::all_is_right", None),
        ("-p tameshi-base --lib sums::tests::gone", "sum: no test gone in crates/base/src/sums.rs"),
        ("-p tameshi-base --lib gone::tests::total", "no source file for module gone"),
        ("--lib sums::tests::total_is_right", "expected cargo -p PACKAGE"),
    ],
)
def test_rust_test_is_looked_up_in_its_module(
    mutants: ModuleType, tree: Path, test: str, said: str | None
) -> None:
    rust = {"file": "crates/base/src/sums.rs", "old": "total()", "new": "all()"}
    found = list(mutants.problems(tree, [mutant(mutants, test=f"cargo {test}", **rust)]))
    assert [said in problem for problem in found] == [True] if said else found == []


def test_name_used_twice_is_a_problem(mutants: ModuleType, tree: Path) -> None:
    two = [mutant(mutants), mutant(mutants)]
    assert list(mutants.problems(tree, two)) == ["sum: name used twice"]


@pytest.mark.parametrize(
    ("changes", "result"),
    [
        ({}, "red"),
        ({"new": "b + a"}, "survived"),
        ({"test": "pytest test_sum.py::test_gone"}, "error"),
    ],
)
def test_mutant_is_tried_and_taken_out_again(
    mutants: ModuleType, tree: Path, changes: dict[str, str], result: str
) -> None:
    before = (tree / "python" / "sum.py").read_text()
    environment = mutants.environment_in(tree, tree)
    tried = mutant(mutants, **changes)
    verdict, output = mutants.try_mutant(tried, tree, environment, sys.executable)
    assert verdict.result == result, output
    assert (tree / "python" / "sum.py").read_text() == before
    if result == "red":
        plain, _ = mutants.try_mutant(tried, tree, environment, sys.executable, unchanged=True)
        assert plain.result == "survived"


def test_command_beyond_its_time_ends_with_its_children(
    mutants: ModuleType, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutants, "LONGEST_S", 0.3)
    command = ["sh", "-c", "(sleep 2; touch late) & sleep 60"]
    begin_s = time.monotonic()
    with pytest.raises(mutants.Unusable, match="took longer than"):
        mutants.execute(command, tree, {})
    assert time.monotonic() - begin_s < 2
    time.sleep(max(0, begin_s + 2.5 - time.monotonic()))
    assert not (tree / "late").exists()


def test_scratch_tree_is_removed_after_an_interrupt(mutants: ModuleType, tree: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    (tree / ".gitignore").write_text("/build/\n")
    with pytest.raises(KeyboardInterrupt), mutants.scratch_tree(tree, None) as scratch:
        copied = {str(p.relative_to(scratch)) for p in scratch.rglob("*") if p.is_file()}
        raise KeyboardInterrupt
    assert {"python/sum.py", "crates/base/src/sums.rs"} <= copied
    assert not scratch.exists()


def test_two_runs_do_not_share_a_scratch_tree(mutants: ModuleType, tree: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    with (
        mutants.scratch_tree(tree, None),
        pytest.raises(mutants.Unusable, match="in progress"),
        mutants.scratch_tree(tree, None),
    ):
        pass


def test_interrupted_run_reports_and_writes_what_is_done(
    mutants: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    first, *others = mutants.read_mutants()

    def run(_mutants: Any, _options: Any, progress: Any) -> None:
        progress.ends(first, mutants.Verdict("red"), 2.0)
        raise KeyboardInterrupt

    options = mutants.parsed(["--write"])
    monkeypatch.setattr(mutants, "run", run)
    monkeypatch.setattr(mutants, "PAGE", tmp_path / "mutants.md")
    assert mutants.tried([first, *others], [first, *others], options) == 130
    assert f"interrupted: 1 red, {len(others)} not run; " in capsys.readouterr().out
    page = (tmp_path / "mutants.md").read_text()
    found = mutants.results_of([first, *others], page)
    assert found == {m.name: ("not run", "") for m in others} | {first.name: ("red", "2.0")}


def test_result_of_another_bug_is_dropped_from_the_page(mutants: ModuleType) -> None:
    one = mutant(mutants)
    page = mutants.page_of([one], {"sum": ("red", "1.5")})
    assert mutants.results_of([one], page) == {"sum": ("red", "1.5")}
    assert mutants.results_of([mutant(mutants, bug="another bug")], page) == {}


def test_time_left_is_estimated_by_recorded_times(mutants: ModuleType) -> None:
    three = [mutant(mutants, name=name) for name in ("a", "b", "c")]
    progress = mutants.Progress(three, {"a": 10.0, "b": 30.0, "c": 50.0}, io.StringIO())
    assert progress.left_s() == pytest.approx(90.0)
    progress.ends(three[0], mutants.Verdict("red"), 20.0)
    assert progress.left_s() == pytest.approx(160.0), "twice as slow as recorded"
    assert mutants.Progress(three, {}, io.StringIO()).left_s() is None


@pytest.mark.parametrize(
    ("names", "found"), [((), ["a", "b"]), (("b", "a"), ["a", "b"]), (("b",), ["b"])]
)
def test_names_choose_mutants_in_the_tables_order(
    mutants: ModuleType, names: tuple[str, ...], found: list[str]
) -> None:
    two = [mutant(mutants, name=name) for name in ("a", "b")]
    assert [one.name for one in mutants.chosen(two, names)] == found
    with pytest.raises(mutants.Unusable, match="no mutant `z`, accepted: a, b"):
        mutants.chosen(two, ["z"])
