"""Release builds take the profile of their own compiler, and do without where there is none."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROFILES = sorted((ROOT / "pgo").glob("rustc-*.profdata"))


def profiles(compiler: str, folder: Path) -> list[str]:
    """What the script says of profiles where `rustc` is of another version."""
    rustc = folder / "rustc"
    rustc.write_text(f"#!/bin/sh\necho 'rustc {compiler} (0123abc 2026-01-01)'\n")
    rustc.chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    told = subprocess.run(
        [ROOT / "scripts" / "rustflags"],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path},
    )
    return [flag for flag in told.stdout.split() if flag.startswith("-Cprofile-use=")]


@pytest.mark.parametrize("profile", PROFILES, ids=lambda path: path.stem)
def test_a_compiler_gets_its_own_profile(profile: Path, tmp_path: Path) -> None:
    version = profile.stem.removeprefix("rustc-")
    assert profiles(version, tmp_path) == [f"-Cprofile-use={profile}"]
    assert profile.read_bytes()[:8] == b"\xfflprofi\x81", "an indexed profile of LLVM"


def test_a_compiler_without_one_builds_as_ever(tmp_path: Path) -> None:
    assert profiles("1.0.0", tmp_path) == []


def test_there_is_one() -> None:
    assert PROFILES


def test_the_library_is_built_with_what_was_counted() -> None:
    """Counts belong to functions by name, and names change with the features of dependencies."""
    told = subprocess.run(
        [ROOT / "scripts" / "rustflags", "--file"], check=True, capture_output=True, text=True
    )
    profile = Path(told.stdout.strip())
    if not profile.exists():
        pytest.fail(f"{profile.name} is missing: `make train` writes it")
    library = ROOT / "python" / "tameshi" / "_tameshi.abi3.so"
    symbols = subprocess.run(["nm", library], check=True, capture_output=True).stdout
    functions = set(re.findall(rb"_ZN11tameshi_sim[\w$.]*", symbols))
    trained = set(re.findall(rb"_ZN11tameshi_sim[\w$.]*?17h[0-9a-f]{16}E", profile.read_bytes()))
    assert len(functions & trained) > len(functions) / 4, "`make train` tells this library nothing"
