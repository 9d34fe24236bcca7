"""Uses between files of a crate form no cycle."""

from pathlib import Path

import pytest
from rust_methods import calls_and_uses, cycles, struct_sizes
from rust_uses import uses

STRUCT_FIELDS = 20


def circle(source: Path) -> list[str]:
    """Modules of the largest cycle below a crate's `src`, or nothing."""
    found = cycles(calls_and_uses(source))
    return ["::".join(module) for module in found[0]] if found else []


def test_imports_and_calls_within_each_crate_run_one_way(root):
    sources = sorted(root.glob("crates/*/src"))
    assert len(sources) > 5
    assert {source: circle(source) for source in sources if circle(source)} == {}


def test_structs_have_at_most_20_fields(root):
    sizes = [each for source in root.glob("crates/*/src") for each in struct_sizes(source)]
    own = [(fields, name) for fields, name, of_a_file in sizes if not of_a_file]
    assert max(own)[0] > 15 and [each for each in own if each[0] > STRUCT_FIELDS] == []


def test_uses_and_paths_are_seen(root):
    graph = uses(root / "crates/sim/src")
    assert {("kernel", "state"), ("kernel", "world"), ("error",)} <= graph["kernel", "run"]
    assert ("device", "flash", "nand") in graph["device", "flash", "backend"]


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


def test_cycle_of_method_calls_is_found(tmp_path):
    (tmp_path / "lib.rs").write_text("mod a;\nmod b;\n")
    (tmp_path / "a.rs").write_text("use super::S;\nimpl S {\n    fn a(&self) { self.b(); }\n}\n")
    (tmp_path / "b.rs").write_text(
        "use super::S;\nimpl S {\n    pub fn b(&self) { self.a(); }\n}\n"
    )
    assert circle(tmp_path) == ["a", "b"]
    (tmp_path / "b.rs").write_text("use super::S;\nimpl S {\n    pub fn b(&self) {}\n}\n")
    assert circle(tmp_path) == []


def test_fields_are_counted_whatever_their_visibility(tmp_path):
    (tmp_path / "lib.rs").write_text(
        "pub struct A {\n    a: u8,\n    pub b: (u8, u8),\n    pub(super) c: Vec<u8>,\n}\n"
        "#[derive(Deserialize)]\nstruct B {\n    a: u8,\n}\nstruct C(u8);\n"
    )
    assert list(struct_sizes(tmp_path)) == [(3, "lib.rs::A", False), (1, "lib.rs::B", True)]
