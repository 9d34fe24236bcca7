"""Ready study of interference, simulated: disturbances of a commit in its report."""

import pytest
from command import results, tameshi


def tails(found: dict, phase: str) -> dict[str, float]:
    """Return p99.9 of commits by stream, in ns."""
    cell = next(cell for cell in found["cells"] if cell["phase"] == phase)
    wanted = (e for e in cell["estimates"] if e["metric"] == "commit.latency.p999")
    return {estimate["subject"]: estimate["value"] for estimate in wanted}


@pytest.mark.timeout(600)
def test_interference_report_names_disturbances_of_commit(quick_study):
    folder = quick_study("interference").folder
    found = results(folder)
    assert len({cell["phase"] for cell in found["cells"]}) == 5 + 10 + 1
    alone, beside = tails(found, "log")["log"], tails(found, "log-compaction")["log"]
    assert beside > 1.5 * alone, "compaction delays commits"
    report = tameshi("report", folder, "--format", "md").stdout
    matrix = report.split("## Interference")[1].split("## ")[0]
    (row,) = (line for line in matrix.splitlines() if line.startswith("| log ("))
    assert row.count("|") == 9
    assert f"({beside / alone:.3g}"[:4] in row
