"""Round 2's experiments: drives, hosts, studies, and what no study states."""

from pathlib import Path

ROUND2 = Path(__file__).parent
