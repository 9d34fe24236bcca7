"""Refusal of invalid catalogs with file, line and key."""

import pytest
from questions import question

from tameshi.ask import catalog_of, costs_of, prepared, storages_of
from tameshi.ask.catalog import line_of
from tameshi.core.errors import BadInput

TEXT = """# what we have
[price]
san = 5   # each
"disk" = 4

[storage.san]
cache = { memory = "1 GiB" }
raid10.members = 4
[ storage . "disk" ]
device = "null"
[storage.disk.cache]
memory = "2 GiB"
"""


@pytest.fixture
def written(tmp_path):
    """Write a catalog."""

    def write(text):
        path = tmp_path / "own.toml"
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("price.san", 3),
        ("price.disk", 4),
        ("storage.san", 6),
        ("storage.san.cache.memory", 7),
        ("storage.san.raid10.members", 8),
        ("storage.san.raid10.device", 8),
        ("storage.san.device", 6),
        ("storage.disk.device", 10),
        ("storage.disk.cache.memory", 12),
        ("price.other", 2),
        ("power.san", 0),
    ],
)
def test_key_is_located_or_its_enclosing_table(key, line):
    assert line_of(TEXT, key.split(".")) == line


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("[storage", "own.toml", "invalid TOML"),
        ("[price]\na = \n", "own.toml:2:5", "invalid TOML. Found: Invalid value."),
        ("\n[prices]\na = 1", "own.toml:2: prices", "a catalog has no such section"),
        ('[storage.a]\ndevice = "null"\nsize = "1 GiB"', "own.toml:3: storage.a.size", "decides"),
        ('[storage."a.b"]\ndevice = "null"', "own.toml:1: a.b", "not a storage"),
        ("price = 4", "own.toml:1: price", "not a table"),
    ],
)
def test_invalid_catalog_is_refused_with_place(text, place, words, written):
    with pytest.raises(BadInput) as caught:
        catalog_of(written(text))
    assert f"{place}: " in str(caught.value) and words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[price]\nb = 1", "own.toml:4: price.b: neither a storage"),
        ('[price]\n# of a\na = "much"', "own.toml:5: price.a: not an amount. Found: much."),
        ("[power]\na = -1", "own.toml:4: power.a: not an amount. Found: -1."),
    ],
)
def test_invalid_prices_and_watts_are_refused_with_place(text, words, written):
    catalog = catalog_of(written('[storage.a]\ndevice = "null"\n' + text))
    with pytest.raises(BadInput) as caught:
        costs_of(storages_of("--storage", "a", catalog), catalog, [], [])
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("stack", "words"),
    [
        ('devcie = "null"', "own.toml:3: storage.san.devcie: there is no key `devcie` here"),
        ('device = "nonesuch"', "own.toml:3: storage.san.device: there is no device profile"),
        ('raid10 = { members = "six", device = "null" }', "own.toml:3: storage.san.raid10"),
        ('raid10.device = "null"\nraid10.members = 3', "own.toml:4: storage.san.raid10.members"),
        ('cache.of = { array = "fc-2" }', "own.toml:3: storage.san.cache.of.array: there is no"),
        ('cache = { memory = "lots", of.device = "null" }', "own.toml:3: storage.san.cache"),
    ],
)
def test_invalid_storage_is_refused_with_place(stack, words, written, tmp_path):
    catalog = catalog_of(written(f"\n[storage.san]\n{stack}\n"))
    with pytest.raises(BadInput) as caught:
        storages = storages_of("--storage", "san", catalog)
        prepared(question(storages=storages), tmp_path / "out", catalog)
    assert words in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_error_outside_catalog_names_the_question(tmp_path):
    with pytest.raises(BadInput, match="the question, as a study"):
        prepared(question(version="3.23"), tmp_path / "out")
