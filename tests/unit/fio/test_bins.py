"""fio's bins: values in bins, named by their middle as in fio's JSON."""

from fio_runs import fio
from hypothesis import given
from hypothesis import strategies as st

from tameshi.fio.bins import BINS, Latencies, bin_of, middle_of


@given(st.integers(0, (1 << 45)))
def test_bin_middle_is_within_one_percent_and_ordered(value):
    middle = middle_of(bin_of(value))
    assert abs(middle - value) <= value / 128 + 1
    assert bin_of(middle) == bin_of(value)
    assert bin_of(value + 1) - bin_of(value) in (0, 1)


def test_fios_last_bin_is_the_end_of_its_last_group():
    assert bin_of((1 << 34) - 1) == BINS - 1
    assert bin_of(1 << 34) == BINS, "what fio clips at 17 s goes on here"


def test_every_bin_of_fio_is_one_of_ours(tmp_path):
    document = fio(tmp_path, "--name=a", "--rw=randrw", "--size=2m", "--ioengine=psync")
    result = [
        int(value)
        for word in ("read", "write")
        for value in document["jobs"][0][word]["clat_ns"]["bins"]
    ]
    assert len(result) > 20
    assert [middle_of(bin_of(value)) for value in result] == result


def test_statistics_over_values():
    latencies = Latencies(sum_ns=100 * 1000 + 20_000_000)
    latencies.add([(1000, 100), (20_000_000, 1)])
    assert latencies.count == 101
    assert latencies.mean == (100 * 1000 + 20_000_000) / 101
    found = latencies.percentiles([1.0, 50.0, 99.0, 99.9])
    assert [abs(found[percent] / 1000 - 1) < 0.01 for percent in (1.0, 50.0, 99.0)] == [True] * 3
    assert abs(found[99.9] / 20_000_000 - 1) < 0.01
    shares = latencies.shares()
    assert shares["latency_us"]["2"] == 99.009901 and shares["latency_ms"]["50"] == 0.990099
    assert sum(sum(names.values()) for names in shares.values()) == 100.0
