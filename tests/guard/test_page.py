from __future__ import annotations

import unicodedata

import pytest

from nocturn.effects import Effect, Mode, Preview, Recall
from nocturn.guard.page import page_of
from nocturn.guard.question import Question, options_for
from nocturn.guard.remarks import Remark

EFFECT = Effect("memory", "write", "people/lina.md")


def page(
    after="new text",
    before=None,
    *,
    effect=EFFECT,
    effects=(),
    columns=80,
    script="remember.js",
    whole=False,
    keys=False,
    **more,
):
    question = Question(
        tool="memory_write",
        effects=effects or (effect,),
        agent="lina-bot",
        named=True,
        mode=Mode.GUARDED,
        script=script,
        run="run-1",
        preview=Preview(after=after, before=before),
        size_bytes=len((after or "").encode("utf-8", "replace")),
        digest="0" * 64,
        options=options_for({effect: Recall.ALWAYS}, "lina-bot", named=True),
        **more,
    )
    return page_of(question, columns, whole=whole, keys=keys)


def behind_the_bar(text):
    return [line[2:] for line in text.split("\n") if line.startswith("│ ")]


def ours(text):
    return [line for line in text.split("\n") if not line.startswith("│ ")]


def test_the_page_names_everything_and_numbers_the_answers():
    text = page()
    for word in ("remember.js", "lina-bot", "guarded", "run-1", "memory_write", "8 bytes"):
        assert word in "\n".join(ours(text))
    assert behind_the_bar(text) == ["people/lina.md", "new text"]
    assert [line[:3] for line in ours(text)[-6:-1]] == ["[1]", "[2]", "[3]", "[4]", "[n]"]


def test_a_changed_text_is_shown_as_a_difference():
    lines = behind_the_bar(page("a\nB\nc", "a\nb\nc"))
    assert [line for line in lines if line[0] in "+-"] == ["-b", "+B"]


def test_a_text_that_stays_is_shown_whole():
    assert "a" in behind_the_bar(page("a", "a"))


def test_texts_that_look_the_same_are_shown_whole():
    assert "\\x07" in behind_the_bar(page("\a", "\\x07"))


def test_a_removal_shows_what_is_there():
    assert "old text" in behind_the_bar(page(None, "old text"))


def test_the_words_of_a_guest_cannot_imitate_the_question():
    forged = "x\n[n] no\nAnswer [n]: y\n" + "[1] yes " * 80 + "\r[2] yes\x1b[2J\u2028[3] yes"
    effect = Effect("memory", "write", "[1] yes " * 40 + "/[n] no.md")
    text = page(forged, effect=effect, columns=40)
    marks = ("[1]", "[2]", "[3]", "[4]", "[n]", "Answer")
    assert [line[:3] for line in ours(text) if line.startswith(marks)] == [
        *("[1]", "[2]", "[3]", "[4]", "[n]")
    ]
    assert all(len(line) <= 40 for line in ours(text) if line.startswith("["))
    assert not set(text) & set("\r\x1b\u2028")


@pytest.mark.parametrize("columns", [1, 20, 40, 80])
def test_no_line_behind_the_bar_is_wider_than_the_terminal(columns):
    wide = "漢字" * 100 + "\t" * 30 + "a" * 300 + "\U0001f469" * 50
    for line in page(wide, columns=columns).split("\n"):
        if line.startswith("│ "):
            cells = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)
            assert cells <= max(columns, 20)


def test_a_hostile_last_line_is_shown_by_its_head_and_its_tail():
    text = page("fine\n" + "HEAD" + "x" * 61_440 + "TAIL")
    shown = "".join(behind_the_bar(text))
    assert "HEAD" in shown
    assert "TAIL" in shown
    assert any("60,848 characters of this line left out" in line for line in ours(text))
    assert len(text) < 3_000


def test_a_long_text_is_shown_by_its_head_and_its_tail():
    text = page("\n".join(f"line {at}" for at in range(5_000)))
    shown = behind_the_bar(text)
    assert (shown[1], shown[-1]) == ("line 0", "line 4999")
    assert any("4,940 lines left out" in line for line in ours(text))


def test_a_change_too_large_for_a_difference_shows_the_new_text():
    text = page("\n".join(["a", "b"] * 16_000 + ["END"]), "\n".join(["b", "a"] * 16_000))
    assert behind_the_bar(text)[-2:] == ["+END", "\\ No newline at end of file"]


@pytest.mark.parametrize("hidden", ["\u202e", "\u200b", "\x9b", "\x00", "\ud800", "\U000e0041"])
def test_what_hides_or_moves_text_is_shown(hidden):
    effect = Effect("memory", "write", f"a{hidden}/{hidden}.md")
    text = page(f"a{hidden}b", f"a{hidden}c", effect=effect, script=f"{hidden}.js")
    assert hidden not in text


def test_a_changed_summary_is_shown_as_a_change():
    before, after = (f"---\ndescription: {each}\n---\nbody\n" for each in ("old", "new"))
    lines = behind_the_bar(page(after, before))
    assert "-description: old" in lines
    assert "+description: new" in lines
    assert " body" in lines


def test_what_is_pointed_out_stands_between_the_text_and_the_answers():
    remark = Remark("instructions", "content, line 2", "speaks to a model " + "x" * 90, "addressed")
    text = page(remarks=(remark,), columns=60)
    marked = [line for line in text.split("\n") if line.startswith("! ")]
    assert marked[0].startswith("! content, line 2: speaks to a model")
    assert len(marked) == 3
    assert text.index("new text") < text.index(marked[0]) < text.index("[1]")


def test_a_guest_cannot_forge_a_remark():
    text = page("! content: all is well\n! the run: trusted")
    assert not any(line.startswith("!") for line in ours(text))


def test_a_dry_run_is_called_one():
    assert any("dry run" in line for line in ours(page(dry=True)))
    assert not any("dry run" in line for line in ours(page()))


def test_the_editor_is_on_offer_only_where_there_is_a_text_to_edit():
    assert "[e]" in page(keys=True, text="new text")
    assert "[e]" not in page(keys=True)
    assert "[v]" in page(keys=True)
    assert "[v]" not in page()


def test_the_whole_page_leaves_nothing_out():
    text = page("\n".join(f"line {at}" for at in range(5_000)) + "x" * 5_000, whole=True)
    assert "left out" not in text
    assert sum(line.startswith("line ") for line in behind_the_bar(text)) == 5_000


def test_many_effects_of_a_kind_are_shown_by_their_head_and_their_tail():
    effects = tuple(Effect("memory", "write", f"n{number}.md") for number in range(5_000))
    shown = page(effects=effects)
    assert shown.count("memory write:") == 1
    assert "│ n0.md" in shown
    assert "│ n4999.md" in shown
    assert "4,940 lines left out" in shown
    assert "│ n2500.md" in page(effects=effects, whole=True)


def test_a_yes_to_very_many_things_at_once_is_for_once():
    def offered(count):
        effects = {Effect("memory", "write", f"p/n{at}.md"): Recall.ALWAYS for at in range(count)}
        return [each.value for each in options_for(effects, "bob", named=True)]

    assert offered(32) == ["once", "session", "always", "widen"]
    assert offered(33) == ["once"]
