"""Display of profile values."""

import pytest

from tameshi.devices.units import display_value
from tameshi.devices.values import Value


@pytest.mark.parametrize(
    ("key", "written", "shown"),
    [
        ("controller.channel_rate", "1200000000 /s", "1.2 GB/s"),
        ("controller.read_rate", "1000000 /s", "1 M/s"),
        ("controller.write_rate", "81500 /s", "81.5 k/s"),
        ("link.read_rate", "510000000 /s", "510 MB/s"),
        ("limit.command_rate", "950 /s", "950/s"),
        ("link.rate", "1.17 GB", "1.17 GB/s"),
        ("revolution", "8333333 ns", "8.333 ms (7200/min)"),
        ("power.read_nj", "4000", "4 µJ"),
        ("power.idle_mw", "11000", "11 W"),
        ("power.thermal.resistance_mk_per_w", "1600", "1.6 K/W"),
        ("nand.read_time", "45 µs, 55 µs", "45 µs, 55 µs"),
        ("capacity", "1 TB", "1 TB"),
    ],
)
def test_rates_and_times_have_fitting_units(key, written, shown):
    assert display_value(Value(key, written, "chosen", None)) == shown
