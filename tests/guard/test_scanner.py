from __future__ import annotations

import base64
import unicodedata
from urllib.parse import quote

import pytest

from nocturn.guard.scanner import REDACTED, Scanner, strings_in
from nocturn.secret import Secret

TOKEN = "tok_" + "aB3dE5fG7hJ9kL1mN2pQ4rS6"
SHORT = "aB3dE5fG7h"


def folded(text, width):
    return "\n".join(text[at : at + width] for at in range(0, len(text), width))


ENCODINGS = {
    "as it is": lambda raw: raw.decode(),
    "every byte percent-encoded": lambda raw: "".join(f"%{byte:02X}" for byte in raw),
    "some characters percent-encoded": lambda raw: "".join(
        "".join(f"%{byte:02x}" for byte in character.encode()) if at % 3 == 0 else character
        for at, character in enumerate(raw.decode())
    ),
    "percent-encoded beside stray percent signs": lambda raw: "100% %% %zz " + quote(raw, safe=""),
    "base64": lambda raw: base64.b64encode(raw).decode(),
    "base64 without padding": lambda raw: base64.b64encode(raw).decode().rstrip("="),
    "base64 for URLs": lambda raw: base64.urlsafe_b64encode(raw).decode(),
    "base64 one byte in": lambda raw: base64.b64encode(b"k" + raw + b"zz").decode(),
    "base64 two bytes in": lambda raw: base64.b64encode(b"kk" + raw + b"z").decode(),
    "base64 before a line break": lambda raw: base64.b64encode(raw + b"\n").decode(),
    "base64 in a fold": lambda raw: folded(base64.b64encode(b'{"k":"' + raw + b'"}').decode(), 19),
    "base64 in a URL": lambda raw: quote(base64.b64encode(raw).decode(), safe=""),
    "hex": lambda raw: raw.hex(),
    "HEX": lambda raw: raw.hex().upper(),
    "hex in a fold": lambda raw: folded(raw.hex(), 15),
    "split by a newline": lambda raw: raw.decode()[:7] + "\n" + raw.decode()[7:],
    "split by other white space": lambda raw: raw.decode()[:7] + "\u2028 \t\xa0" + raw.decode()[7:],
    "split by an escaped newline": lambda raw: raw.decode()[:7] + "%0A" + raw.decode()[7:],
}


@pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS)
@pytest.mark.parametrize("value", [TOKEN, "pass~>?~>?wörd", "hunter2hunter2"])
def test_a_value_is_found_and_struck_out_in_every_encoding(scanner_of, encode, value):
    raw = value.encode()
    scanner = scanner_of(value)
    text = f"before {encode(raw)} behind"
    assert scanner.finds(text)
    assert scanner.names(text) == ("SECRET_0",)
    redacted = scanner.redact(text)
    assert not scanner.finds(redacted)
    assert redacted.startswith("before ")
    assert redacted.endswith(" behind")
    assert REDACTED in redacted


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("stored", ["NFC", "NFD"])
@pytest.mark.parametrize("word", ["pässwörd-né", "한국어비밀", "각각-secret"])
def test_a_value_is_found_composed_and_decomposed(scanner_of, form, stored, word):
    scanner = scanner_of(unicodedata.normalize(stored, word))
    value = unicodedata.normalize(form, word)
    assert scanner.redact(f"x {value} y") == f"x {REDACTED} y"
    assert scanner.redact(f"x {quote(value)} y") == f"x {REDACTED} y"
    assert scanner.finds(value.encode().hex())


@pytest.mark.parametrize(("one", "other"), [("p\u00e4ssw", "\u00f6rd"), ("한국", "각비밀")])
def test_a_value_that_is_half_composed_is_found(scanner_of, one, other):
    half = one + unicodedata.normalize("NFD", other)
    assert scanner_of(one + other).redact(f"-{half}-") == f"-{REDACTED}-"


def test_a_mark_behind_a_value_does_not_hide_it(scanner_of):
    assert scanner_of("hunter2e").finds("hunter2e\u0301")


def test_what_stands_beside_an_accent_is_left_alone(scanner_of):
    text = unicodedata.normalize("NFD", "été geheim1 été")
    expected = text.replace("geheim1", REDACTED)
    assert scanner_of("geheim1").redact(text) == expected


@pytest.mark.parametrize("value", ["a", "abc", "äöü"])
def test_a_value_under_four_characters_is_not_matched(scanner_of, value):
    scanner = scanner_of(value)
    assert not scanner.armed
    assert not scanner.finds(f"transforming {value} hostname")


def test_a_value_of_four_characters_is_matched(scanner_of):
    assert scanner_of("abcd").finds("xabcdx")


def test_a_value_that_is_mostly_white_space_is_matched_as_it_stands(scanner_of):
    scanner = scanner_of("a b c")
    assert scanner.finds("x a b c x")
    assert not scanner.finds("abc")


def test_the_white_space_around_a_value_is_not_needed(scanner_of):
    assert scanner_of(f"{TOKEN}\n").finds(f"x{TOKEN}x")
    assert scanner_of(f"{TOKEN}\n").finds(base64.b64encode(TOKEN.encode()).decode())


def test_ordinary_text_is_not_changed(scanner_of):
    text = "100% done, 50%% more; café; AAAA====; deadbeef; \U0001f469\u200d\U0001f469 \r\n\t"
    assert scanner_of(TOKEN, "hunter2").redact(text) == text


def test_every_occurrence_is_struck_out(scanner_of):
    scanner = scanner_of("hunter2hunter2")
    assert scanner.redact("hunter2hunter2 then hunter2hunter2") == f"{REDACTED} then {REDACTED}"


def test_the_last_of_two_secrets_is_struck_out_whole(scanner_of):
    scanner = scanner_of("sk-ZYX987654321abcABC12", "tok_d2PHL8sMWUfBPZVNvHtAr4co4Zfy2Y3RB42O")
    text = "ex sk-ZYX987654321abcABC12 and tok_d2PHL8sMWUfBPZVNvHtAr4co4Zfy2Y3RB42O"
    assert scanner.redact(text) == f"ex {REDACTED} and {REDACTED}"


def test_overlapping_and_adjacent_values_become_one_mark(scanner_of):
    scanner = scanner_of("abcdef", "defghi")
    assert scanner.redact("zabcdefghiz") == f"z{REDACTED}z"
    assert scanner.redact("zabcdefdefghiz") == f"z{REDACTED}z"
    assert scanner.spans("zabcdefghiz") == [(1, 10)]


def test_a_value_that_overlaps_itself_is_struck_out_whole(scanner_of):
    assert scanner_of("aaaa").redact("baaaaaab") == f"b{REDACTED}b"


def test_a_value_with_emoji_is_struck_out_at_the_right_place(scanner_of):
    scanner = scanner_of("pass\U0001f511word\U0001f512x")
    assert scanner.redact("k=pass\U0001f511word\U0001f512x.") == f"k={REDACTED}."


def test_escapes_are_struck_out_in_the_text_as_it_came(scanner_of):
    scanner = scanner_of("supersecretvalue")
    text = "a %73%75%70%65%72%73%65%63%72%65%74%76%61%6C%75%65 b"
    assert scanner.redact(text) == f"a {REDACTED} b"
    assert scanner.redact("100% %20a supersecretval%75e%20b") == f"100% %20a {REDACTED}%20b"


def test_a_value_with_escapes_in_it_is_found_with_and_without_them(scanner_of):
    scanner = scanner_of("p%40ss%20word")
    for text in ("p%40ss%20word", "p@ss word", "p%40ss%20wor%64", "p%2540ss%2520word"):
        assert scanner.redact(f"x {text} y") == f"x {REDACTED} y"


@pytest.mark.parametrize("lead", range(3))
@pytest.mark.parametrize("tail", range(3))
def test_nothing_of_a_value_is_left_at_the_edges_of_base64(scanner_of, lead, tail):
    left = {
        scanner_of(value).redact(
            base64.b64encode(b"\xaa" * lead + value.encode() + b"\xaa" * tail).decode()
        )
        for value in ("Asecret-wordA", "~secret-word~", "0secret-word0")
    }
    assert len(left) == 1


@pytest.mark.parametrize(
    "text", ["\ud800", "\udfff%", "%ud800", "%ED%A0%80", "%C0%80", "\0", "%", "%4", "%%", "\u0301"]
)
def test_strange_text_comes_back_as_it_is(scanner_of, text):
    scanner = scanner_of(TOKEN)
    assert scanner.redact(text) == text
    assert scanner.redact(text + TOKEN + text) == text + REDACTED + text


def test_a_json_value_is_struck_out_to_its_depths(scanner_of):
    scanner = scanner_of("hunter2")
    value = {"a": ["hunter2", 1, None, True, {"hunter2": "x hunter2"}], "hunter2 too": ("hunter2",)}
    assert scanner.redact_value(value) == {
        "a": [REDACTED, 1, None, True, {REDACTED: f"x {REDACTED}"}],
        f"{REDACTED} too": [REDACTED],
    }
    assert value["a"][0] == "hunter2"


def test_keys_keep_their_order_and_none_is_lost(scanner_of):
    scanner = scanner_of("hunter2", "hunter3")
    redacted = scanner.redact_value({"z": 0, "hunter2": 1, "hunter3": 2, "a": 3})
    assert list(redacted.items()) == [("z", 0), (REDACTED, 1), (f"{REDACTED} (2)", 2), ("a", 3)]


def test_a_deep_value_does_not_overflow(scanner_of):
    value = "hunter2"
    for _ in range(50_000):
        value = [value]
    value = scanner_of("hunter2").redact_value(value)
    while isinstance(value, list):
        value = value.pop()
    assert value == REDACTED


def test_sources_are_read_on_first_use_and_once():
    class Counting:
        reads = 0

        def secrets(self):
            self.reads += 1
            return [Secret("A", "hunter2")]

    source = Counting()
    scanner = Scanner([source])
    assert source.reads == 0
    assert scanner.finds("hunter2")
    assert scanner.redact("hunter2") == REDACTED
    assert source.reads == 1


def test_without_secrets_everything_passes():
    scanner = Scanner([])
    value = {"a": ["b"]}
    assert not scanner.armed
    assert scanner.redact("text") == "text"
    assert scanner.redact_value(value) == value
    assert scanner.names_across(["a", "b"]) == ()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (SHORT[:4], SHORT[4:]),
        ("x " + SHORT[:1], SHORT[1:] + " y"),
        ("x " * 5000 + SHORT[:7], SHORT[7:] + " y" * 5000),
        (SHORT[:5] + " \n" * 50, "\t" * 50 + SHORT[5:]),
        ("a%4", "23dE5fG7h"),
        (SHORT.encode().hex()[:7], SHORT.encode().hex()[7:]),
        (
            base64.b64encode(SHORT.encode()).decode()[:7],
            base64.b64encode(SHORT.encode()).decode()[7:],
        ),
    ],
)
def test_a_value_across_two_texts_is_found_in_the_order_that_spells_it(scanner_of, first, second):
    scanner = scanner_of(SHORT)
    assert not scanner.finds(first)
    assert not scanner.finds(second)
    # 60 bits: no piece of it counts as the value by itself.
    assert scanner.names_across([first, "between", second]) == ("SECRET_0",)
    assert scanner.names_across([second, "between", first]) == ("SECRET_0",)
    assert scanner.names_across([first, "between"]) == ()
    assert scanner.names_across([second]) == ()


@pytest.mark.parametrize("cut", range(3, 120, 3))
def test_a_character_that_is_cut_in_its_escapes_is_found(scanner_of, cut):
    text = quote("é" * 20)
    texts = [f"before {text[:cut]}", f"{text[cut:]} behind"]
    assert scanner_of("é" * 20).names_across(texts) == ("SECRET_0",)


def test_many_texts_are_looked_at_in_batches(scanner_of):
    texts = [f"{at:05d}" + "x" * 200 for at in range(120)]
    scanner = scanner_of(TOKEN)
    assert scanner.names_across(texts) == ()
    assert scanner.names_across([TOKEN[9:], *texts, TOKEN[:9]]) == ("SECRET_0",)


def test_a_value_that_is_too_short_to_be_looked_for_is_said_without_it(scanner_of, caplog):
    with caplog.at_level("WARNING", "nocturn"):
        assert not scanner_of("q7x", "zz").armed
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 2
    assert not any("q7x" in each or "zz" in each for each in told)
    caplog.clear()
    assert scanner_of("long enough").armed
    assert caplog.records == []


def test_a_token_that_nobody_put_into_the_vault_is_struck_out_by_its_shape():
    token = "ghp_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1z2A"
    scanner = Scanner([])
    assert scanner.redact(f"a note by hand: {token}, é") == f"a note by hand: {REDACTED}, é"
    assert scanner.redact_all(["x", token, "y"]) == ["x", REDACTED, "y"]
    assert scanner.redact_value({token: [f"see {token}"]}) == {REDACTED: [f"see {REDACTED}"]}
    # What only is suspicious beside a name is a person's to judge, not struck out.
    warned = "AZURE_OPENAI_API_KEY=6f1d0c5b7a9e4d3c8b2a1f0e9d8c7b6a"
    assert scanner.redact(warned) == warned


def test_strings_are_walked_in_order_with_keys_and_to_any_depth():
    deep: list = ["end"]
    for _ in range(100_000):
        deep = [deep]
    assert [*strings_in({"a": ["b", {"c": "d"}], "e": 1, "f": ("g", deep)})] == [
        *("a", "b", "c", "d", "e", "f", "g", "end")
    ]
