"""Effects that the model leaves out, named by the results and where the answer is."""

from __future__ import annotations

from pathlib import Path

import first_look
import pytest

from tameshi.analysis.left_out import MD_BITMAP, NO_HOST, left_out, merged
from tameshi.core.reasons import reason
from tameshi.report.study import markdown, render, terminal_doubts
from tameshi.report.view.inputs import ReportInputs
from tameshi.study.file import plan, read_study

CARD = "fusionio-iodrive-duo-320-slc"
HOST = "[host]\nprofile = '2x-xeon-e5620-rhel5'\n"
MIRROR = f"raid1 = {{ members = 2, device = '{CARD}' }}"
WRITES, READS = (
    ("stream.log", f"[workload.stream.log]\nread = '{share} %'\n") for share in (0, 100)
)
DATABASE = (
    "oltp",
    "[engine.mysql]\nversion = '5.7'\n[workload.oltp]\nmix = 'read_write'\n"
    "tables = 1\nrows = 1000\nclients = 1\n",
)


def codes(folder: Path, storage: str, workload: tuple[str, str], host: str = HOST) -> list[str]:
    """Return the codes for a study with one storage, `store`."""
    study = folder / "study.toml"
    name, text = workload
    study.write_text(
        f"title = 't'\nquestion = 'q'\n[storage.store]\n{storage}\n{host}{text}"
        f"[phase.p]\nworkload = ['{name}']\nuntil.time = '1 s'\n"
    )
    specs = plan(read_study(study), "simulated", quick=False).runs
    found = left_out(specs)
    assert all(each["values"] == {"names": ["store"]} for each in found if each["values"])
    return [each["code"] for each in found]


@pytest.mark.parametrize(
    ("storage", "told"),
    [
        (f"device = '{CARD}'", []),
        (f"raid0 = {{ members = 2, device = '{CARD}' }}", []),
        (MIRROR, [MD_BITMAP]),
        (f"raid10 = {{ members = 4, device = '{CARD}' }}", [MD_BITMAP]),
        (f"raid0 = {{ members = 2, of = {{ {MIRROR} }} }}", [MD_BITMAP]),
        ("array = 'sata-ssd-2x480gb-mirror'", [MD_BITMAP]),
        (f"cache = {{ of = {{ {MIRROR} }}, memory = '256 MB', kind = 'battery_backed' }}", []),
    ],
)
def test_q1_missing_bitmap_of_a_written_mirror_is_told(
    tmp_path: Path, storage: str, told: list[str]
) -> None:
    assert codes(tmp_path, storage, WRITES) == told
    assert codes(tmp_path, storage, READS) == []


def test_q1_missing_bitmap_under_a_database_is_told(tmp_path: Path) -> None:
    assert codes(tmp_path, MIRROR, DATABASE) == [MD_BITMAP]


@pytest.mark.parametrize("host", ["", "[host]\nprofile = 'free'\n"])
def test_q1_calls_without_cost_are_told(tmp_path: Path, host: str) -> None:
    assert codes(tmp_path, f"device = '{CARD}'", READS, host) == [NO_HOST]


@pytest.mark.parametrize(("lang", "bitmap"), [("en", "bitmap"), ("ja", "ビットマップ")])
def test_left_out_effects_are_next_to_the_answer(lang: str, bitmap: str) -> None:
    data = first_look.results(("simulated",))
    data["left_out"] = [reason(MD_BITMAP, names=["raid1"]), reason(NO_HOST)]
    inputs = ReportInputs(data)
    (line,) = [line for line in terminal_doubts(inputs, lang) if bitmap in line]
    assert "raid1" in line
    standing, rest = render(inputs, lang).split("</header>")
    assert bitmap in standing and "[host]" not in standing
    assert bitmap in rest and "[host]" in rest
    assert bitmap in markdown(inputs, lang)


def test_reasons_of_groups_are_merged_by_kind() -> None:
    groups = [[reason(MD_BITMAP, names=["a"])], [], [reason(NO_HOST)]]
    groups += [[reason(MD_BITMAP, names=["b", "a"]), reason(NO_HOST)]]
    assert merged(groups) == [reason(MD_BITMAP, names=["a", "b"]), reason(NO_HOST)]
    assert merged([]) == []
