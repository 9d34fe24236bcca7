"""Write docs/validation/test-times.md from the JUnit files of nextest and pytest.

    python scripts/test_times.py RUST.xml PYTHON.xml [--before]

`--before` writes the sums to docs/validation/test-times-before.csv instead, as the reference of the
page.
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "validation"
PAGE, BEFORE = FOLDER / "test-times.md", FOLDER / "test-times-before.csv"
SLOWEST, LIMIT_S = 50, 5
"""Number of rows, and the limit above which every test is listed, which the tidy test reads."""


@dataclass(frozen=True)
class Timed:
    """One test: suite (crate, or folder of pytest), name, seconds."""

    suite: str
    name: str
    seconds: float


@dataclass(frozen=True)
class Sum:
    """Number and seconds of the tests of one suite."""

    tests: int
    seconds: float


def rust_tests(path: Path) -> Iterable[Timed]:
    """Return the tests of a JUnit file of nextest; a suite is `CRATE` or `CRATE::TARGET`."""
    for suite in ElementTree.parse(path).getroot().iter("testsuite"):
        crate = suite.attrib["name"].partition("::")[0].removeprefix("tameshi-")
        for case in suite.iter("testcase"):
            yield Timed(f"crates/{crate}", case.attrib["name"], float(case.attrib["time"]))


def python_tests(path: Path) -> Iterable[Timed]:
    """Return the tests of a JUnit file of pytest; a suite is the test file's folder."""
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        *folder, file = case.attrib["classname"].split(".")
        name = f"{file}::{case.attrib['name']}"
        yield Timed("/".join(folder), name, float(case.attrib["time"]))


def sums(tests: Iterable[Timed]) -> dict[str, Sum]:
    """Return tests and seconds by suite."""
    number, seconds = Counter[str](), defaultdict[str, float](float)
    for test in tests:
        number[test.suite] += 1
        seconds[test.suite] += test.seconds
    return {suite: Sum(number[suite], seconds[suite]) for suite in sorted(number)}


def room(suite: str) -> str:
    """Return the suite without its tier, as it was named before tiers existed."""
    parts = suite.split("/")
    return f"tests/{parts[2]}" if parts[0] == "tests" and len(parts) > 2 else suite


def read_before() -> dict[str, Sum]:
    """Read the sums that the page compares with."""
    with BEFORE.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        return {row["suite"]: Sum(int(row["tests"]), float(row["seconds"])) for row in rows}


def write_before(found: Mapping[str, Sum]) -> None:
    """Write the sums to compare with."""
    with BEFORE.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["suite", "tests", "seconds"])
        rows.writerows([suite, each.tests, f"{each.seconds:.1f}"] for suite, each in found.items())


def page(tests: list[Timed], before: Mapping[str, Sum]) -> str:
    """Return the page: sums by suite before and after, sums by tier, the slowest tests."""
    after = sums(Timed(room(test.suite), test.name, test.seconds) for test in tests)
    lines = [
        "# Test times",
        "",
        "<!-- written by `make timings` -->",
        "",
        "Sums of the wall-clock seconds of single tests. Two tests run at a time on "
        f"{os.cpu_count()} processors, {platform.system()} {platform.release()}.",
        "*Before*: commit 164cf5e, measured once: Rust at optimisation level 3, pytest next to a",
        "build at low priority.",
        "",
        "| suite | tests before | seconds before | tests | seconds |",
        "|---|---:|---:|---:|---:|",
    ]
    for suite in sorted({*before, *after}):
        was, is_ = before.get(suite, Sum(0, 0)), after.get(suite, Sum(0, 0))
        lines.append(
            f"| {suite} | {was.tests} | {was.seconds:.0f} | {is_.tests} | {is_.seconds:.0f} |"
        )
    was, is_ = total(before.values()), total(after.values())
    lines.append(f"| all | {was.tests} | {was.seconds:.0f} | {is_.tests} | {is_.seconds:.0f} |")
    tiers = sums(Timed(tier(test.suite), test.name, test.seconds) for test in tests)
    lines += ["", "| tier | tests | seconds |", "|---|---:|---:|"]
    lines += [f"| {name} | {each.tests} | {each.seconds:.0f} |" for name, each in tiers.items()]
    lines += ["", f"The {SLOWEST} slowest:", "", "| seconds | suite | test |", "|---:|---|---|"]
    slowest = sorted(tests, key=lambda test: -test.seconds)
    slowest = [t for place, t in enumerate(slowest) if place < SLOWEST or t.seconds > LIMIT_S]
    lines += [
        f"| {t.seconds:.1f} | {t.suite} | `{t.name.replace('|', chr(92) + '|')}` |" for t in slowest
    ]
    return "\n".join(lines) + "\n"


def tier(suite: str) -> str:
    """Return `Rust` or the folder of a pytest tier."""
    return "/".join(suite.split("/")[:2]) if suite.startswith("tests/") else "Rust"


def total(each: Iterable[Sum]) -> Sum:
    """Return the sum of all suites."""
    every = list(each)
    return Sum(sum(one.tests for one in every), sum(one.seconds for one in every))


def main() -> None:
    """Read both files and write the page, or the sums to compare with."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rust", type=Path)
    parser.add_argument("python", type=Path)
    parser.add_argument("--before", action="store_true")
    given = parser.parse_args()
    tests = [*rust_tests(given.rust), *python_tests(given.python)]
    if given.before:
        write_before(sums(tests))
    else:
        PAGE.write_text(page(tests, read_before()), encoding="utf-8")


if __name__ == "__main__":
    main()
