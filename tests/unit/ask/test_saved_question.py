"""Results folder with one question."""

import json
from dataclasses import fields

import pytest
from questions import question

from tameshi import guard
from tameshi.ask import Question, saved_question
from tameshi.ask.question import Costs, Storage
from tameshi.core.errors import BadInput
from tameshi.workflow import study_folder


@pytest.fixture
def folder(tmp_path):
    """Make a folder with an answer."""
    guard.claim_folder(tmp_path / "out")
    guard.write_file(tmp_path / "out" / study_folder.SUMMARY, b"{}")
    saved_question.save(tmp_path / "out", question())
    return tmp_path / "out"


def test_same_question_resumes_with_other_variations(folder):
    saved_question.refuse_another(folder, question())
    saved_question.refuse_another(folder, question(varied=()))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"target_qps": 30_000.0}, "Found: --target-qps 20000, not 30000."),
        ({"version": None}, "--engine-version 5.7, not unset"),
        ({"pools": (8 << 30, 32 << 30)}, "--buffer-pool 8 GiB..64 GiB, not 8 GiB..32 GiB"),
        ({"listed_pools": (8 << 30, 64 << 30)}, "--buffer-pool a range, not 8 GiB,64 GiB"),
        ({"target_p99_ns": 50_000_000}, "--target-p99 unset, not 0.05 s"),
        ({"costs": Costs({"disks": 9.0, "card": 1.0})}, "--power none, not disks=9 card=1"),
        ({"storages": (Storage("card", {"device": "x"}),)}, "--storage disks,card, not card"),
    ],
)
def test_other_question_is_refused_with_differences(changed, words, folder):
    before = (folder / saved_question.FILE).read_bytes()
    with pytest.raises(BadInput) as caught:
        saved_question.refuse_another(folder, question(**changed))
    assert words in str(caught.value) and "--fresh" in str(caught.value)
    assert (folder / saved_question.FILE).read_bytes() == before


def test_same_storage_name_with_other_stack_is_other_question(folder):
    storages = tuple(Storage(each.name, {"device": "null"}) for each in question().storages)
    with pytest.raises(BadInput, match="--storage disks,card with other contents"):
        saved_question.refuse_another(folder, question(storages=storages))


def test_results_without_question_are_left_alone(folder):
    (folder / saved_question.FILE).unlink()
    with pytest.raises(BadInput, match="without a record"):
        saved_question.refuse_another(folder, question())
    (folder / study_folder.SUMMARY).unlink()
    saved_question.refuse_another(folder, question())


def test_every_field_of_question_is_saved_and_has_option():
    names = {field.name for field in fields(Question)} - set(saved_question.VARIATIONS)
    assert set(saved_question.document(question())) == set(saved_question.OPTIONS) == names
    assert json.dumps(saved_question.document(question()))
