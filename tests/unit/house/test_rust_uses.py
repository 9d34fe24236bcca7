"""Uses between files of a crate form no cycle."""

import graphlib
from pathlib import Path

import pytest
from rust_uses import uses


def circle(source: Path) -> list[str]:
    """Cycle of modules below a crate's `src`; empty if there is none."""
    try:
        graphlib.TopologicalSorter(uses(source)).prepare()
    except graphlib.CycleError as error:
        return ["::".join(module) for module in error.args[1]]
    return []


def test_files_of_each_crate_form_no_cycle(root):
    sources = sorted(root.glob("crates/*/src"))
    assert len(sources) > 5
    assert {source: circle(source) for source in sources if circle(source)} == {}


def test_uses_and_paths_are_seen(root):
    graph = uses(root / "crates/sim/src")
    assert {("kernel", "state"), ("kernel", "world"), ("error",)} <= graph["kernel", "run"]
    assert ("device", "flash", "die") in graph["device", "flash", "reads"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("use crate::b::{self, C as D};\n", "use super::a::A;\n"),
        ("pub fn a() { crate::b::b(); }\n", "fn b() { super::a::a(); }\n"),
        ("use crate::B;\n", "use crate::{\n    a::{A, B},\n};\n"),
    ],
)
def test_cycle_is_found(tmp_path, one, other):
    (tmp_path / "lib.rs").write_text("mod a;\nmod b;\npub use b::B;\n")
    (tmp_path / "a.rs").write_text(one)
    (tmp_path / "b.rs").write_text(other)
    assert set(circle(tmp_path)) == {"a", "b"}
    (tmp_path / "b.rs").write_text(
        "// use super::a::A;\n#[cfg(test)]\nmod tests { use crate::a::A; }\n"
    )
    assert circle(tmp_path) == []
