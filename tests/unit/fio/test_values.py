"""Sizes, times, mixes and lists in fio's syntax."""

import pytest

from tameshi.core.errors import BadInput
from tameshi.fio import values
from tameshi.fio.jobfile import Setting


def of(value: str | None) -> Setting:
    return Setting("key", value, "job.fio:7")


@pytest.mark.parametrize(
    ("text", "base", "expected"),
    [
        ("4096", 1024, 4096),
        ("4k", 1024, 4096),
        ("4KB", 1024, 4096),
        ("4ki", 1024, 4000),
        ("4k", 1000, 4000),
        ("4KiB", 1000, 4096),
        ("0x10k", 1024, 16_384),
        ("1.5m", 1024, 1_572_864),
        ("2g", 1024, 2 << 30),
        ("1t", 1024, 1 << 40),
        ("512b", 1024, 512),
    ],
)
def test_sizes_count_in_1024_unless_kb_base_says_otherwise(text, base, expected):
    assert values.size(of(text), base) == expected


def test_a_share_of_a_file_stays_one():
    assert values.size(of("50%"), 1024) == values.Percent(50)


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [("10", "s", 10_000_000), ("5m", "s", 300_000_000), ("250ms", "s", 250_000), ("20", "us", 20)],
)
def test_times_have_suffixes_and_a_unit_without_one(text, unit, expected):
    assert values.time_us(of(text), unit) == expected


def test_blank_shares_of_mix_are_filled():
    mix = values.block_mix(of("x"), "4k/10:64k/50:32k/", 1024)
    assert mix == [(4096, 100_000), (65_536, 500_000), (32_768, 400_000)]
    mix = values.block_mix(of("x"), "1k/:2k/:4k/", 1024)
    assert sum(share for _, share in mix) == 1_000_000
    assert values.zones(of("x"), "50/5:30/15:20/") == [
        (500_000, 50_000),
        (300_000, 150_000),
        (200_000, 800_000),
    ]


def test_range_expands_to_multiples_of_least():
    assert [length for length, _ in values.even_mix(1024, 4096)] == [1024, 2048, 3072, 4096]
    assert sum(share for _, share in values.even_mix(1024, 7 * 1024)) == 1_000_000


def test_files_split_at_unescaped_colons():
    assert values.files(of(r"/dev/disk\:0:b")) == ["/dev/disk:0", "b"]


@pytest.mark.parametrize(
    "read",
    [
        lambda: values.size(of("4q"), 1024),
        lambda: values.size(of("120%"), 1024),
        lambda: values.size(of(None), 1024),
        lambda: values.time_us(of("3x")),
        lambda: values.block_mix(of("x"), "4k/60:8k/60", 1024),
        lambda: values.block_mix(of("x"), "4k/60:8k/20", 1024),
        lambda: values.flag(of("maybe")),
        lambda: values.percentiles(of("50:oops")),
        lambda: values.directions(of("1,2,3,4")),
    ],
)
def test_invalid_value_is_refused_at_its_place(read):
    with pytest.raises(BadInput) as refused:
        read()
    assert str(refused.value).startswith("job.fio:7: key: ")
