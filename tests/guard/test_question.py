from __future__ import annotations

import dataclasses
import json

import pytest

from nocturn.effects import Effect, Mode, Preview, Recall, binding
from nocturn.errors import STORAGE, NocturnError
from nocturn.guard.question import Question, options_for
from nocturn.guard.remarks import Remark

EFFECT = Effect("memory", "write", "people/lina.md")
QUESTION = Question(
    tool="memory_write",
    effects=(EFFECT,),
    agent="lina-bot",
    named=True,
    mode=Mode.GUARDED,
    script="remember.js",
    run="run-1",
    preview=Preview(after="new\n", before="old\n", version="v1"),
    size_bytes=4,
    digest=binding((EFFECT,), b"new\n"),
    options=options_for({EFFECT: Recall.ALWAYS}, "lina-bot", named=True),
    remarks=(Remark("instructions", "content, line 2", "speaks to a model", "addressed"),),
    outside=("fetch_page",),
    text="new\n",
)


def test_a_question_comes_back_from_json_as_it_was():
    told = json.loads(json.dumps(QUESTION.to_dict()))
    assert Question.from_dict(told) == QUESTION


def test_a_name_that_no_utf_8_can_hold_can_be_kept():
    told = dataclasses.replace(QUESTION, script="\udcff.js").to_dict()
    assert json.dumps(told, ensure_ascii=False).encode()
    assert Question.from_dict(told).script == "?.js"


TOLD = QUESTION.to_dict()


@pytest.mark.parametrize(
    "told",
    [
        {},
        {**TOLD, "form": 2},
        {**TOLD, "form": True},
        {**TOLD, "named": 1},
        {**TOLD, "size_bytes": "4"},
        {**TOLD, "mode": "loose"},
        {**TOLD, "more": 1},
        {**TOLD, "effects": [["memory", "write", "a.md"]]},
        {**TOLD, "options": [{"value": 1, "label": "yes"}]},
        {key: value for key, value in TOLD.items() if key != "outside"},
    ],
)
def test_what_is_in_no_form_of_ours_is_no_question(told):
    with pytest.raises(NocturnError) as refused:
        Question.from_dict(told)
    assert refused.value.code == STORAGE


def test_the_rows_of_its_diff_are_what_would_change():
    assert QUESTION.diff() == ["@@ -1 +1 @@", "-old", "+new"]


def test_a_binding_tells_every_effect_and_every_content_apart():
    same = Effect("memory", "write", "people/lina.md")
    other = [
        binding((Effect("memory", "write", "people/otto.md"),), b"new\n"),
        binding((Effect("memory", "remove", "people/lina.md"),), b"new\n"),
        binding((EFFECT,), b"new"),
        binding((EFFECT, EFFECT), b"new\n"),
        binding((), b"new\n"),
        # What stands at a border belongs to one side of it.
        binding((Effect("memory", "writep", "eople/lina.md"),), b"new\n"),
        binding((Effect("memory", "write", "people/lina.md4:new\n"),), b""),
    ]
    assert binding((same,), b"new\n") == QUESTION.digest
    assert len({*other, QUESTION.digest}) == len(other) + 1
