"""Notebooks of examples/: each runs, asks a question first, ends with an answer, has no outputs.

`make soak` runs them as they are, with minutes to spare for each; here they run in small.
"""

import os
from pathlib import Path

import notebooks
import pytest

import tameshi as tm

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = sorted((ROOT / "examples").glob("*.ipynb"))
SMALL = {
    "first_look": {"QUICK": "True"},
    "disk_or_flash": {"QUICK": "True"},
    "my_own_drive": {"DRIVE": "'measured'", "MODEL": "'volume'"},
    "cost_against_p99": {
        "DRIVES": "{'sas-15k-146gb': 150, 'nvme-tlc-3.84tb': 700}",
        "POOLS_MIB": "(32, 320)",
        "LAYOUTS": "{name: LAYOUTS[name] for name in ('single', 'raid1 of 2')}",
    },
}
"""Parameters of short runs, as Python's text."""
ANSWERS = {
    "first_look": ("Verdict: ", "- Peak rate"),
    "disk_or_flash": ("- Statements per second (QPS)", "flash · large"),
    "my_own_drive": ("- Model: volume", "- Held-out cells: ", "- Transactions per second"),
    "cost_against_p99": ("configurations are worth their price", "Cheapest: ", "Least p99: "),
}
SHORT_S, LONG_S = 100, 3600


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_notebook_runs_to_its_answer(path: Path, tmp_path: Path) -> None:
    is_long = os.environ.get("TAMESHI_GRID") == "full"
    parameters = {} if is_long else SMALL[path.stem]
    if "DRIVE" in parameters:
        # Instead of a real drive, measured for minutes.
        drive = tm.Device("sata-ssd-480gb")
        load = {"depth": [1, 4, 16, 64], "read": [1.0, 0.0], "size": "1 GiB", "time": "300 ms"}
        drive.run(**load, out=tmp_path / "measured")
    answer = notebooks.run(path, tmp_path, parameters, LONG_S if is_long else SHORT_S)
    for words in ANSWERS[path.stem]:
        assert words in answer


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_notebook_is_a_question_an_answer_and_no_output(path: Path) -> None:
    cells = notebooks.read(path).cells
    title = cells[0].source.splitlines()[0]
    assert cells[0].cell_type == "markdown" and title.startswith("# ") and title.endswith("?")
    assert cells[-2].source.startswith("## Answer") and cells[-1].cell_type == "code"
    for cell in cells:
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None
        else:
            assert max(map(len, cell.source.splitlines())) <= 120
    assert (
        len([cell for cell in cells if notebooks.PARAMETERS in cell.metadata.get("tags", ())]) == 1
    )


def test_each_notebook_has_short_parameters() -> None:
    assert {path.stem for path in EXAMPLES} == set(SMALL) == set(ANSWERS)
