"""Accepted and refused inputs of `tameshi ask`."""

import tomllib
from pathlib import Path

import pytest
from questions import question

from tameshi.ask import Catalog, costs_of, pools_of, storages_of, varied_of
from tameshi.ask.answer import cost, refuse_unknown_power, watts
from tameshi.ask.question import Costs, Storage, Varied
from tameshi.ask.study_text import drives
from tameshi.core.errors import BadInput

GIB = 1 << 30


def refusal(call, *words: object) -> str:
    with pytest.raises(BadInput) as caught:
        call(*words)
    return str(caught.value)


def test_ranges():
    assert pools_of("--buffer-pool", "8GB..64GB") == ((8 * 10**9, 64 * 10**9), ())
    assert pools_of("--buffer-pool", "1 GiB .. 2 GiB") == ((GIB, 2 * GIB), ())
    assert pools_of("--buffer-pool", "1 GiB") == ((GIB, GIB), ())
    assert "reversed" in refusal(pools_of, "--buffer-pool", "64GB..8GB")
    said = refusal(pools_of, "--buffer-pool", "8..64GB")
    assert said.startswith("--buffer-pool: ") and "Found: 8." in said
    for text, words in (("..128MB", "no begin"), ("8MB..", "no end"), ("..", "no begin")):
        said = refusal(pools_of, "--buffer-pool", text)
        assert words in said and "Accepted: a range such as 8GB..64GB" in said
    assert "above zero" in refusal(pools_of, "--buffer-pool", "0 B..8GB")


def test_listed_pools_are_simulated_as_they_are():
    bounds, listed = pools_of("--buffer-pool", "40GB, 256MB,40GB")
    assert (bounds, listed) == ((256 * 10**6, 40 * 10**9), (256 * 10**6, 40 * 10**9))
    assert question(pools=bounds, listed_pools=listed).first_pools == list(listed)
    assert question(pools=(GIB, 4 * GIB)).first_pools == [GIB, 2 * GIB, 4 * GIB]
    said = refusal(pools_of, "--buffer-pool", "256MB,8GB..64GB")
    assert "can't hold a range" in said and "Found: 8GB..64GB" in said


def test_storages_are_profiles_arrays_and_names_of_the_catalog():
    own = {"storage": {"san": {"raid0": {"members": 4, "device": "sata-ssd-480gb"}}}}
    found = storages_of("--storage", "es3000-1.2t, raid10:6:sas-15k-146gb,san", Catalog(tables=own))
    assert [storage.name for storage in found] == [
        "es3000-1-2t",
        "raid10-6-sas-15k-146gb",
        "san",
    ]
    assert found[1].stack == {"raid10": {"members": 6, "device": "sas-15k-146gb"}}
    assert found[2].stack == own["storage"]["san"]


def test_array_profile_by_name_can_be_changed_in_catalog():
    each = {"members": 24, "device": "sas-15k-300gb", "chunk": "64 KiB"}
    own = {"storage": {"san": {"array": "fc-24x15k", "cache": {"memory": "4 GiB"}}}}
    found = storages_of("--storage", "fc-24x15k,san", Catalog(tables=own))
    assert found[0].stack["cache"]["of"] == {"raid10": each}
    assert [storage.stack["cache"]["memory"] for storage in found] == ["1 GiB", "4 GiB"]
    assert drives(found[0].stack) == [("sas-15k-300gb", 24)]
    text = '# ours\n[storage.san]\ncache.memory = "4 GiB"\narray = "fc-24"'
    own = Catalog(Path("own.toml"), text, tomllib.loads(text))
    said = refusal(storages_of, "--storage", "san", own)
    assert said.startswith("own.toml:4: storage.san.array: ") and "fc-24x15k" in said


@pytest.mark.parametrize("word", ["nonesuch", "raid10:x:sas-15k-146gb", "raid9:2:null", ""])
def test_unknown_storage_is_refused_with_accepted_names(word):
    said = refusal(storages_of, "--storage", word, Catalog())
    assert said.startswith("--storage: no such storage")
    assert "raid10" in said and "MEMBERS:PROFILE" in said


def test_a_storage_named_twice_is_refused():
    assert "twice" in refusal(storages_of, "--storage", "null,null", Catalog())


def test_prices_come_from_options_and_else_from_the_catalog():
    storages = question().storages
    result = {"price": {"disks": 900, "card": 4000, "memory": 5}, "power": {"card": 25}}
    found = costs_of(storages, Catalog(tables=result), ["disks=1000", "energy=0.2"], ["memory=0.5"])
    assert found.price == {"disks": 1000.0, "card": 4000.0, "memory": 5.0, "energy": 0.2}
    assert found.watts == {"card": 25.0, "memory": 0.5}


@pytest.mark.parametrize(
    ("prices", "words"),
    [
        (["disks"], "NAME=NUMBER"),
        (["disk=5"], "NAME=NUMBER"),
        (["disks=much"], "a number"),
        (["disks=-1"], "a number, zero or more"),
        (["years=5"], "--price energy=NUMBER"),
        (["disks=5", "card=5", "years=5"], "`years` needs a price of energy"),
        (["disks=nan"], "a number"),
        (["disks=5"], "--price card=NUMBER"),
    ],
)
def test_price_without_effect_is_refused(prices, words):
    said = refusal(costs_of, question().storages, Catalog(), prices, [])
    assert words in said and "--price" in said


def test_years_without_energy_price_cost_nothing():
    found = costs_of(question().storages, Catalog(tables={"price": {"years": 5}}), [], [])
    assert not found.priced


def test_cost_includes_storage_memory_and_energy_over_years():
    price = {"disks": 1000.0, "card": 3000.0, "memory": 5.0, "energy": 0.25, "years": 2.0}
    asked = question(costs=Costs(price, {"card": 100.0, "memory": 1.0}))
    assert watts(asked, "card", 100 * GIB) == 200.0
    assert cost(asked, "card", 100 * GIB) == 3000 + 500 + 0.2 * 2 * 8766 * 0.25
    assert watts(asked, "disks", 0) == 6 * 15.0, "from the profile"


def test_storage_of_unknown_power_is_refused_with_energy_price():
    storages = (*question().storages, Storage("cloud", {"device": "cloud-volume-1tb"}))
    price = {"disks": 1000.0, "card": 3000.0, "cloud": 5.0, "energy": 0.25}
    asked = question(storages=storages, costs=Costs(price, {"card": 25.0}))
    for said in (refusal(refuse_unknown_power, asked), refusal(cost, asked, "cloud", GIB)):
        assert said.startswith("--power: energy has a price")
        assert "cloud has none" in said and "Accepted: --power cloud=WATTS" in said
    refuse_unknown_power(
        question(storages=storages, costs=Costs(price, {"card": 25.0, "cloud": 0.0}))
    )
    unpriced = {name: amount for name, amount in price.items() if name != "energy"}
    refuse_unknown_power(question(storages=storages, costs=Costs(unpriced)))
    assert cost(question(storages=storages, costs=Costs(unpriced)), "cloud", GIB) == 5.0


def test_cost_without_prices_orders_by_pool_then_storage():
    asked = question()
    costs = [cost(asked, name, pool) for pool in (GIB, 2 * GIB) for name in ("disks", "card")]
    assert costs == sorted(costs) and len(set(costs)) == 4


def test_uncertain_inputs_default_to_half_and_twice():
    known = {"redo_log": 2.0 * GIB, "clients": 20.0}
    assert varied_of("--vary", [], known) == [
        Varied("redo_log", GIB, 4 * GIB),
        Varied("clients", 10, 40),
        Varied("row_size", 0.8, 1.25),
    ]
    for scale, low in ((1, 1 << 20), (2, 2e6)):
        small = known | {"redo_log": 2e6, "scale": scale}
        assert varied_of("--vary", [], small)[0] == Varied("redo_log", low, 4e6)
    ranges = varied_of("--vary", ["clients=5..50", "row_size=0.5..2"], known)
    assert ranges[1:] == [Varied("clients", 5, 50), Varied("row_size", 0.5, 2.0)]
    for text in ("threads=1..2", "clients=5", "clients=9..5", "clients=a..b", "row_size=0..2"):
        assert refusal(varied_of, "--vary", [text], known).startswith("--vary: ")
