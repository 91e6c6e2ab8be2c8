"""Words: what is the same to a reader is the same to the search, in every script."""

from __future__ import annotations

import sqlite3
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nocturn.store.fulltext import FullText, InMemory
from nocturn.store.snippet import snippet
from nocturn.store.words import joined, terms_of, words_in


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Café CRÈME", "cafe creme"),
        ("cafe\u0301", "cafe"),
        ("straße STRASSE", "strasse strasse"),
        ("İstanbul ΟΔΟΣ οδος", "istanbul οδοσ οδοσ"),
        ("Ёлка", "елка"),
        ("\uff21\uff22\uff11 ﬁn ①", "ab1 fin 1"),
        ("foo_bar-baz.md: 3,14", "foo bar baz md 3 14"),
        ("ca\u00adfe e\u200bf", "cafe ef"),
        ("שָׁלוֹם مَرْحَبًا", "שלום مرحبا"),
        ("हिन्दी में", "हिन्दी में"),
        ("東京へ", "東 京 へ"),
        ("ガ ｶﾞ か\u3099", "ガ ガ が"),
        ("학교에서", "학 교 에 서"),
        ("学校go学校", "学 校 go 学 校"),
        ("a🦖b", "a 🦖 b"),
        ("\ud800\0x\n", "x"),
        ("", ""),
    ],
)
def test_words_are_folded(text, words):
    assert words_in(text) == words.split()


@pytest.mark.parametrize(
    ("query", "expressions"),
    [
        ("Foo bár", ['"foo"', '"bar"']),
        ('"foo bar" baz', ['"foo bar"', '"baz"']),
        ("qu* x", ['"qu" *', '"x"']),
        ('"a b"*', ['"a b" *']),
        ('"open end', ['"open end"']),
        ("foo-bar", ['"foo bar"']),
        ("東京", ['"東 京"']),
        ("a a", ['"a"']),
        ("NEAR(a b) OR NOT path:x ^z -w", None),
        ('"" * ** - "*" … \ud800', []),
    ],
)
def test_a_query_is_words_phrases_and_beginnings_and_nothing_else(query, expressions):
    told = [each.expression() for each in terms_of(query)]
    if expressions is None:
        assert told == ['"near a"', '"b"', '"or"', '"not"', '"path x"', '"z"', '"w"']
    else:
        assert told == expressions


PIECES = [
    "a",
    "B",
    "é",
    "e\u0301",
    "東",
    "京",
    "ท",
    "ี",
    "학",
    "ㅎ",
    "ｶ",
    "ﾞ",
    "ß",
    "ﷺ",
    "ﬁ",
    "🦖",
    "1",
    "½",
]
BETWEEN = [" ", "\n", '"', "*", "-", ".", "\0", "\u200b", "、", "(", ")", ":", "^", "'", "\ud800"]
TEXTS = st.lists(st.sampled_from([*PIECES, *BETWEEN]), max_size=30).map("".join)


@given(st.lists(TEXTS, min_size=1, max_size=4), TEXTS)
def test_sqlite_finds_what_we_find_and_no_query_is_an_error(texts, query):
    terms = terms_of(query)
    if not terms:
        return
    place = InMemory()
    index = FullText(place)
    index.known("")
    with place.changing() as db:
        for at, text in enumerate(texts):
            row = (str(at).encode(), "", b"")
            db.execute("INSERT INTO notes (name, stamp, content) VALUES (?, ?, ?)", row)
            db.execute("INSERT INTO words (rowid, body) VALUES (?, ?)", (at + 1, joined(text)))
    found = {
        str(at).encode()
        for at, text in enumerate(texts)
        if all(term.found_in(joined(text)) >= 0 for term in terms)
    }
    assert {*index.ranked(terms)} == found
    place.remove()


@given(st.text(max_size=60), st.text(max_size=60))
def test_folding_twice_changes_nothing_and_a_part_of_a_text_has_its_words(first, second):
    words = words_in(first)
    assert words_in(" ".join(words)) == words
    assert words_in(f"{first} {second}") == words + words_in(second)


@given(TEXTS, TEXTS, TEXTS)
def test_a_snippet_is_short_and_on_one_line(before, word, after):
    text = before * 20 + word + after * 20
    told = snippet(text, terms_of(word))
    assert len(told) <= 322
    assert len(told.splitlines()) <= 1
    assert told.strip("…") in " ".join(unicodedata.normalize("NFC", text).split())


def test_a_snippet_has_some_words_around_what_was_found():
    text = "one two " * 30 + "the NEEDLE\n\nis here " + "three four " * 30
    told = snippet(text, terms_of("missing needle"))
    assert told.startswith(("…two one two", "…one two"))
    assert "the NEEDLE is here three" in told
    assert told.endswith("…")
    assert 25 <= len(told.split()) <= 31


def test_a_snippet_of_a_script_without_spaces_and_of_one_endless_word():
    told = snippet("東京は日本の首都である。" * 20 + "大阪の城。" + "京都。" * 30, terms_of("大阪"))
    assert "大阪の城。" in told
    assert len(told) < 40
    told = snippet("x" * 2_000 + " needle " + "y" * 2_000, terms_of("needle"))
    assert "x needle y" in told
    assert len(told) <= 322


def test_without_a_match_it_is_the_beginning():
    assert snippet("short  text", terms_of("zzz")) == "short text"
    assert snippet("", terms_of("zzz")) == ""
    assert snippet("-- !", terms_of("zzz")) == "-- !"


def test_the_words_are_what_sqlites_tokenizer_takes_for_words():
    every = "".join(map(chr, range(1, 0x3000)))
    with sqlite3.connect(":memory:") as db:
        db.executescript(
            "CREATE VIRTUAL TABLE t USING fts5(x, tokenize = 'ascii');"
            "CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance');"
        )
        db.execute("INSERT INTO t VALUES (?)", (joined(every),))
        told = [term for (term,) in db.execute("SELECT term FROM v ORDER BY offset")]
    db.close()
    assert told == words_in(every)
