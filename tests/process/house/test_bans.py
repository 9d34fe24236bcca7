"""Bans in pure crates, enforced by clippy: clock, files, hash order, platform mathematics."""

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tree import code_of, without_test_modules

PURE = ("base", "workload", "sim")
WORDS = re.compile(r"\b(Instant::now|SystemTime|HashMap|HashSet|RandomState|std::fs|std::thread)\b")
MATHEMATICS = re.findall(
    r"\w+",
    "sin cos tan asin acos atan atan2 sin_cos sinh cosh tanh asinh acosh atanh "
    "exp exp2 exp_m1 ln ln_1p log log2 log10 powf powi cbrt hypot",
)


def words_in(crate: Path) -> Iterator[str]:
    """Return banned words in a crate's sources: a second net, if an attribute disables clippy."""
    for path in sorted(crate.glob("src/**/*.rs")):
        code = without_test_modules(code_of(path.read_text(encoding="utf-8")))
        yield from (f"{path.relative_to(crate)} uses {match[1]}" for match in WORDS.finditer(code))


@pytest.mark.parametrize("crate", PURE)
def test_pure_crates_hold_the_ban(root, crate):
    assert os.readlink(root / "crates" / crate / "clippy.toml") == "../../clippy-pure.toml"
    assert list(words_in(root / "crates" / crate)) == []


def test_ban_lists_the_mathematics(root):
    ban = tomllib.loads((root / "clippy-pure.toml").read_text())
    listed = {entry["path"] for entry in ban["disallowed-methods"]}
    assert {f"{kind}::{name}" for kind in ("f32", "f64") for name in MATHEMATICS} <= listed
    assert {"std::time::Instant::now", "std::time::SystemTime::now"} <= listed
    types = {entry["path"] for entry in ban["disallowed-types"]}
    assert {"std::collections::HashMap", "std::collections::HashSet"} <= types


def test_banned_words_are_found(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.rs").write_text(
        "//! HashMap\nuse std::collections::HashMap;\n#[cfg(test)]\nmod tests { use std::fs; }\n"
    )
    assert list(words_in(tmp_path)) == ["src/a.rs uses HashMap"]


def test_clippy_refuses_what_is_banned(root, tmp_path):
    """Compile a crate that uses each banned thing once: clippy names them all and accepts the
    rest."""
    shutil.copy(root / "clippy-pure.toml", tmp_path / "clippy.toml")
    (tmp_path / "Cargo.toml").write_text(
        '[package]\nname = "planted"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n'
    )
    two = {"atan2", "hypot", "log", "powf", "powi"}
    calls = [
        f"pub fn {kind}_{name}(x: {kind}) {{ let _ = x.{name}({argument(name, two)}); }}"
        for kind in ("f32", "f64")
        for name in MATHEMATICS
    ]
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "lib.rs").write_text(
        "pub fn clock() { let _ = std::time::Instant::now(); }\n"
        "pub fn map(_: &std::collections::HashMap<u8, u8>) {}\n"
        "pub fn fine(x: f64) -> f64 { x.sqrt() }\n" + "\n".join(calls) + "\n"
    )
    command = ["cargo", "clippy", "--offline", "--quiet", "--", "-D", "warnings"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "CARGO_TARGET_DIR": str(tmp_path / "target")},
        capture_output=True,
        text=True,
    )
    named = set(re.findall(r"use of a disallowed (?:method|type) `([\w:]+)`", done.stderr))
    assert done.returncode != 0
    assert named >= {f"{kind}::{name}" for kind in ("f32", "f64") for name in MATHEMATICS}
    assert named >= {"std::time::Instant::now", "std::collections::HashMap"}
    assert not any("sqrt" in name for name in named)


def argument(name: str, two: set[str]) -> str:
    if name not in two:
        return ""
    return "2" if name == "powi" else "2.0"
