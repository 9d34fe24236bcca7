"""Wheel in an empty environment: no Rust, no git and no file of the checkout.

The wheel has the module that `make` built for tests. With TAMESHI_GRID=full pip builds it from the
sdist, outside the checkout; TAMESHI_WHEEL names a wheel that is built.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import packing
import pytest
from command import SMALL
from packing import MODULE
from tree import project_files

from tameshi.core import compiled

MOST_BYTES = 25_000_000
NAMED = os.environ.get("TAMESHI_WHEEL")
IS_BUILT = bool(NAMED) or os.environ.get("TAMESHI_GRID") == "full"
"""The wheel has a release build of the module."""
NOTICES = ("LICENSE", "licences/rust.txt", "python/tameshi/report/render/plotly-LICENSE.txt")
WATCH = """
import os, sys
CHECKOUT, NOTED = {checkout!r}, {noted!r}
def note(event, facts):
    if event in ("open", "os.listdir", "os.scandir", "subprocess.Popen") and facts:
        path = os.fsdecode(facts[0]) if isinstance(facts[0], bytes) else str(facts[0])
        if path.startswith(CHECKOUT):
            fd = os.open(NOTED, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(fd, f"{{event}} {{path}}\\n".encode())
            os.close(fd)
sys.addaudithook(note)
"""
"""Start of each Python process of the environment: note what it opens in the checkout."""
QUESTION = (
    *("--database-size", "100MB", "--buffer-pool", "8MiB", "--storage", "es3000-1.2t"),
    *("--target-qps", "2000", "--clients", "2", "--redo-log", "32MiB", "--scale", "1"),
    *("--time", "200 ms", "--ramp", "50 ms", "--no-sensitivity"),
)


@dataclass(frozen=True)
class Installed:
    """Environment with the wheel, and an empty folder to work in."""

    environment: Path
    folder: Path
    noted: Path

    @property
    def package(self) -> Path:
        """Return the folder of the installed package."""
        (package,) = self.environment.glob("lib/python*/site-packages/tameshi")
        return package

    def call(self, program: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment, which is all that PATH has."""
        place = str(self.environment / "bin")
        assert [shutil.which(tool, path=place) for tool in ("cargo", "rustc", "git")] == [None] * 3
        return subprocess.run(
            [self.environment / "bin" / program, *words],
            cwd=self.folder,
            env={"PATH": place, "HOME": str(self.folder), "LC_ALL": "C.UTF-8"},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    def tameshi(self, *words: str | Path) -> str:
        """Return the output of a command that succeeds."""
        done = self.call("tameshi", *words)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def unpacked(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the content of the sdist."""
    return packing.sdist(root, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(root: Path, unpacked: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel under test."""
    if NAMED:
        return Path(NAMED).resolve()
    make = packing.built if IS_BUILT else packing.packed
    return make(root, tmp_path_factory.mktemp("dist"), unpacked)


@pytest.fixture(scope="module")
def installed(
    root: Path, wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installed]:
    """Install the wheel with its locked packages into an empty environment."""
    place = tmp_path_factory.mktemp("machine")
    environment = place / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    # The lock is the checkout's; what is installed afterwards has never seen it.
    pip = [root / ".venv/bin/pip", "--python", environment / "bin/python", "install", "--quiet"]
    locked = ["--require-hashes", "--requirement", root / "requirements/run.txt"]
    for words in (locked, ["--no-deps", wheel]):
        subprocess.run([*pip, "--no-compile", "--no-input", *words], check=True)
    found = Installed(environment, place / "empty", place / "noted")
    found.folder.mkdir()
    watch = WATCH.format(checkout=f"{root}/", noted=str(found.noted))
    (found.package.parent / "sitecustomize.py").write_text(watch)
    yield found
    shutil.rmtree(environment)


def files_in(root: Path, *folders: str) -> list[Path]:
    """Return the files of the project in some of its folders."""
    return [path for path in project_files(root) if path.parts[0] in folders]


def kept_digests(folder: Path) -> list[str]:
    """Return the digests of a study folder."""
    outcomes = (json.loads(path.read_text()) for path in folder.glob("runs/*/outcome.json"))
    return [outcome["digest"] for outcome in outcomes]


def test_first_look_runs_to_its_known_digest(installed: Installed, root: Path) -> None:
    assert installed.tameshi("--version").startswith("tameshi ")
    shown = installed.tameshi("run", "first-look", "--quick", "--out", "first")
    assert "Report: " in shown
    known = json.loads((root / "tests" / "digests.json").read_text())["first-look"]
    assert kept_digests(installed.folder / "first") == list(known.values())
    page = (installed.folder / "first" / "report.html").read_text(encoding="utf-8")
    assert "Plotly" in page and len(page) > 500_000, "without the bundle of plots"


def test_profiles_studies_and_answers_are_in_the_wheel(installed: Installed, root: Path) -> None:
    shown = installed.tameshi("devices")
    profiles = sorted((root / "python/tameshi/data/profiles/devices").glob("*.toml"))
    assert profiles and all(path.stem in shown for path in profiles)
    studies = json.loads(installed.tameshi("studies", "--json"))
    assert {Path(study["path"]).parent for study in studies} == {installed.package / "data/studies"}
    answer = installed.tameshi("ask", *QUESTION, "--out", "asked")
    assert "statements per second is es3000-1-2t" in answer


def test_study_of_ones_own_is_begun_and_simulated(installed: Installed) -> None:
    installed.tameshi("init", "mine", "--like", "log-device")
    assert "simulated: " in installed.tameshi("plan", "mine.toml")
    (installed.folder / "small.toml").write_text(SMALL)
    installed.tameshi("run", "small.toml", "--out", "small")
    assert "read.iops" in (installed.folder / "small" / "results.json").read_text()


def test_library_and_types_are_in_the_wheel(installed: Installed) -> None:
    load = "depth=[1, 4], time='50 ms', ramp='10 ms', out='drive'"
    script = f"import tameshi as tm; print(tm.Device('es3000-1.2t').run({load}).cells.height)"
    done = installed.call("python", "-c", script)
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr
    assert (installed.package / "py.typed").exists()


def test_module_of_the_wheel_is_the_simulator_of_the_sources(installed: Installed) -> None:
    script = "from tameshi.core import compiled; print(compiled.core_hash())"
    done = installed.call("python", "-c", script)
    assert done.stdout.strip() == compiled.core_hash(), done.stderr


@contextmanager
def changed_module(installed: Installed, content: bytes | None) -> Iterator[Path]:
    """Replace the compiled module, or remove it."""
    module = installed.package / Path(MODULE).name
    kept = module.rename(module.with_suffix(".kept"))
    if content is not None:
        module.write_bytes(content)
    try:
        yield module
    finally:
        kept.replace(module)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "{package}: the compiled module of Tameshi is missing. Found: no _tameshi.abi3.so"),
        (b"MZ", "{package}/_tameshi.abi3.so: the compiled module of Tameshi cannot be loaded. "),
    ],
    ids=["missing", "other platform"],
)
def test_module_that_cannot_load_is_named_with_remedy(
    installed: Installed, content: bytes | None, message: str
) -> None:
    with changed_module(installed, content):
        done = installed.call("tameshi", "plan", "first-look")
        library = installed.call("python", "-c", "import tameshi as tm; tm.Study")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(message.format(package=installed.package))
    assert "Accepted: " in done.stderr and "pip install dist/tameshi-*.whl" in done.stderr
    assert library.returncode == 1 and "compiled module of Tameshi" in library.stderr


def test_no_command_opened_a_file_of_the_checkout(installed: Installed, root: Path) -> None:
    probe = installed.call("python", "-c", f"open({str(root / 'README.md')!r})")
    noted = installed.noted.read_text().splitlines()
    assert probe.returncode == 0
    assert noted == [f"open {root / 'README.md'}"] * len(noted)


def test_wheel_has_each_file_of_the_package_and_notices(wheel: Path, root: Path) -> None:
    with ZipFile(wheel) as packed:
        names = set(packed.namelist())
        info = next(name for name in names if name.endswith("/METADATA")).removesuffix("METADATA")
        metadata = packed.read(f"{info}METADATA").decode()
        entries = packed.read(f"{info}entry_points.txt").decode()
    package = {str(path.relative_to("python")) for path in files_in(root, "python")}
    assert {name for name in names if not name.startswith(info)} == package | {MODULE}
    for notice in NOTICES:
        assert f"{info}licenses/{notice}" in names
        assert f"License-File: {notice}\n" in metadata
    assert "Requires-Python: >=3.11\n" in metadata
    assert "tameshi=tameshi.__main__:main" in entries.replace(" ", "")
    assert "-cp311-abi3-" in wheel.name
    if NAMED:
        assert "-manylinux_2_" in wheel.name
    if IS_BUILT:
        assert wheel.stat().st_size < MOST_BYTES


def test_notices_name_each_crate_compiled_in(root: Path) -> None:
    command = [sys.executable, "scripts/licences.py", "--check"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_sdist_has_all_that_a_build_reads(unpacked: Path, root: Path) -> None:
    there = {str(path.relative_to(unpacked)) for path in unpacked.rglob("*") if path.is_file()}
    built_from = {str(path) for path in files_in(root, "python", "crates", "licences")}
    top = {"Cargo.toml", "Cargo.lock", "pyproject.toml", "README.md", "LICENSE"}
    assert there == built_from | top | {"PKG-INFO"}
    for name in top:
        assert (unpacked / name).read_bytes() == (root / name).read_bytes()
