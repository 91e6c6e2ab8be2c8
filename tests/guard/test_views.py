from __future__ import annotations

import base64
import bz2
import gzip
import lzma
import zlib
from urllib.parse import quote

import pytest

from nocturn.guard.reading import View
from nocturn.guard.views import views

WORD = "q7Xw2Lm9-Zt4Kd8Rv"
RAW = WORD.encode()


def stretches_of(text, wanted=RAW, view=View.EXACT):
    """Where in the text a view says that the word stands; None where none shows it."""
    for seen, reading in views(text):
        at = reading.data.find(wanted)
        if seen is view and at >= 0:
            raw = text.encode()
            return [raw[a:b].decode() for a, b in reading.stretches(at, at + len(wanted))]
    return None


@pytest.mark.parametrize(
    "carried",
    [
        WORD,
        " ".join(WORD),
        "".join(chr(ord(c) + 0xFEE0) for c in WORD),
        "".join(f"%{c:02x}" for c in RAW),
        "".join(f"%2525{c:02x}" for c in RAW),
        quote("".join(f"%{c:02x}" for c in RAW)),
        "".join(f"\\u00{c:02x}" for c in RAW),
        "".join(f"\\\\u{{{c:x}}}" for c in RAW),
        "".join(f"&#{c};" for c in RAW),
        "".join(f"&amp;#x{c:x};" for c in RAW),
        "".join(f"={c:02X}" for c in RAW),
        "".join(f"\\{c:03o}" for c in RAW),
        RAW.hex(),
        ", ".join(f"0x{c:02x}" for c in RAW),
        base64.b64encode(RAW + b"x").decode(),
        " ".join(base64.urlsafe_b64encode(RAW + b"x").decode()),
        base64.b32encode(RAW + b"xyz").decode(),
        base64.b32hexencode(RAW + b"xyz").decode().lower(),
        base64.b85encode(RAW + b"xyz").decode(),
        base64.a85encode(RAW + b"xyz").decode(),
        base64.b64encode(base64.b64encode(base64.b64encode(RAW))).decode(),
        base64.b64encode(gzip.compress(RAW, mtime=0)).decode(),
        base64.b64encode(zlib.compress(RAW)).decode(),
        base64.b64encode(bz2.compress(RAW)).decode(),
        lzma.compress(RAW).hex(),
        base64.b64encode(WORD.encode("utf-16-le")).decode(),
        "0".join(WORD),
        " ".join(str(c) for c in RAW),
        " ".join(f"{c:08b}" for c in RAW),
        "\n".join(f"{c}ery few words" for c in WORD),
    ],
)
def test_a_value_shows_in_a_view_and_its_place_is_known(carried):
    text = f"some words in front\n{carried}\nand some behind"
    found = stretches_of(text)
    assert found
    struck = text
    for stretch in found:
        struck = struck.replace(stretch, "", 1)
    assert struck.startswith("some words in front")
    assert struck.endswith("and some behind")
    assert stretches_of(struck) is None


@pytest.mark.parametrize(
    "carried",
    [WORD.upper(), WORD[::-1], WORD.replace("-", "*-*"), "".join(f"{c}\u0301" for c in WORD)],
)
def test_a_skeleton_has_no_case_and_no_marks(carried):
    bones = b"q7Xw2Lm9Zt4Kd8Rv".lower().translate(bytes.maketrans(b"01345789l", b"oieastbgi"))
    assert stretches_of(f"a {carried} b", bones, View.SKELETON)


def test_what_is_inflated_is_bounded():
    bomb = base64.b64encode(zlib.compress(b"A" * 10_000_000)).decode()
    size = sum(len(reading.data) for _, reading in views(f"{bomb} " * 4))
    assert size < 200 * (len(bomb) * 4 + 262_144)


def test_the_views_of_a_text_depend_on_its_length_and_its_own_characters_alone():
    text = "the bus leaves early on friday, call Lina. " * 20
    assert [len(r.data) for _, r in views(text)] == [len(r.data) for _, r in views(text)]
