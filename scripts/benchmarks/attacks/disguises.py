"""Other letters, spelling, orders and ciphers that a person undoes by hand."""

from __future__ import annotations

import codecs
import itertools
import string
import unicodedata
import zlib
from typing import TYPE_CHECKING, Final

from attacks.forms import b64, each, pieces, xored
from attacks.values import RANDOM, characters

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["DISGUISES"]

_NATO: Final = (  # noqa: SIM905 - words read better in a line
    "Alfa Bravo Charlie Delta Echo Foxtrot Golf Hotel India Juliett Kilo Lima Mike November Oscar "
    "Papa Quebec Romeo Sierra Tango Uniform Victor Whiskey Xray Yankee Zulu"
).split()
_GERMAN: Final = (  # noqa: SIM905 - words read better in a line
    "Anton Berta Cäsar Dora Emil Friedrich Gustav Heinrich Ida Julius Kaufmann Ludwig Martha "
    "Nordpol Otto Paula Quelle Richard Samuel Theodor Ulrich Viktor Wilhelm Xanthippe Ypsilon "
    "Zeppelin"
).split()
_SPOKEN: Final = (  # noqa: SIM905 - words read better in a line
    "ay bee cee dee ee ef gee aitch eye jay kay el em en oh pee cue ar ess tee you vee doubleyou "
    "ex why zed"
).split()
_DIGITS: Final = "zero one two three four five six seven eight nine".split()  # noqa: SIM905 - words read better in a line
_GREEK: Final = str.maketrans("ABEHIKMNOPTXYZovkiau", "ΑΒΕΗΙΚΜΝΟΡΤΧΥΖονκιαυ")
_CYRILLIC: Final = str.maketrans("AaBEeKMHOoPpCcTXxySsIiJj", "АаВЕеКМНОоРрСсТХхуЅѕІіЈј")  # noqa: RUF001 - look-alikes are the point
_SMALL_CAPITALS: Final = str.maketrans("abcdefghijklmnoprstuvwyz", "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ")
_UPSIDE_DOWN: Final = str.maketrans("abcdefghijklmnpqrtuvwy", "ɐqɔpǝɟƃɥᴉɾʞlɯudbɹʇnʌʍʎ")  # noqa: RUF001 - look-alikes are the point
_STRONG_LEET: Final = str.maketrans({"a": "/-\\", "e": "3", "m": "|\\/|", "o": "()", "w": "\\/\\/"})


def _named(letters: Sequence[str]) -> Callable[[str], str]:
    def name(character: str) -> str:
        at = ord(character.lower()) - ord("a")
        if character.isdecimal():
            return _DIGITS[int(character)]
        if not 0 <= at < len(letters):
            return unicodedata.name(character).lower()
        return ("capital " if character.isupper() else "") + letters[at]

    return each(name, " ")


def _shifted(lower: int, upper: int, digit: int) -> Callable[[str], str]:
    starts = (
        (string.ascii_lowercase, lower),
        (string.ascii_uppercase, upper),
        ("0123456789", digit),
    )
    pairs: dict[str, str | int | None] = {
        a: chr(start + at) for run, start in starts for at, a in enumerate(run) if start
    }
    return lambda value: value.translate(str.maketrans(pairs))


def _capitals_apart(value: str) -> str:
    places = ",".join(str(at) for at, character in enumerate(value) if character.isupper())
    return f"{value.lower()} capitals at {places}"


def _scrambled(value: str) -> str:
    places = list(enumerate(value, 1))
    RANDOM.shuffle(places)
    return ", ".join(f"{at}:{character}" for at, character in places)


def _fence(value: str) -> str:
    rails: list[list[str]] = [[], [], []]
    for character, at in zip(value, itertools.cycle((0, 1, 2, 1)), strict=False):
        rails[at].append(character)
    return "".join(map("".join, rails))


def _vigenere(value: str) -> str:
    key = characters(5, string.ascii_lowercase)
    hidden = "".join(
        chr((ord(c) - 32 + ord(k) - 97) % 95 + 32)
        for c, k in zip(value, itertools.cycle(key), strict=False)
    )
    return f"{hidden} (key {key})"


def _codebook(value: str) -> str:
    book = [f"{a}{b}" for a in ("red", "wet", "big", "old", "shy") for b in _NATO]
    return " ".join(book[(byte * 7 + 3) % len(book)] for byte in value.encode())


def _sums(value: str) -> str:
    pairs = [(byte - (half := RANDOM.randrange(byte)), half) for byte in value.encode()]
    return f"{' '.join(str(a) for a, _ in pairs)} and {' '.join(str(b) for _, b in pairs)}"


def _keystream(value: str) -> str:
    key = RANDOM.randbytes(8)
    stream = b"".join(zlib.crc32(key + bytes([at])).to_bytes(4, "big") for at in range(64))
    return f"{b64(xored(value, stream))} nonce {key.hex()}"


DISGUISES: Final[dict[str, Callable[[str], str]]] = {
    "Greek look-alikes": lambda v: v.translate(_GREEK),
    "Cyrillic and Greek look-alikes": lambda v: v.translate(_CYRILLIC).translate(_GREEK),
    "small capitals": lambda v: v.translate(_SMALL_CAPITALS),
    "upside down": lambda v: v.translate(_UPSIDE_DOWN)[::-1],
    "mathematical bold": _shifted(0x1D41A, 0x1D400, 0x1D7CE),
    "circled letters": _shifted(0x24D0, 0x24B6, 0),
    "squared letters": _shifted(0x1F130, 0x1F130, 0),
    "regional indicators": _shifted(0x1F1E6, 0x1F1E6, 0),
    "tag characters": each(lambda c: chr(0xE0000 + ord(c))),
    "variation selectors behind an emoji": lambda v: (
        "\U0001f600" + "".join(chr(0xE0100 + b - 16) for b in v.encode())
    ),
    "zero-width bits": lambda v: (
        "x" + "".join("\u200b\u200c"[int(bit)] for b in v.encode() for bit in f"{b:08b}") + "x"
    ),
    "many marks": each(lambda c: c + "".join(chr(0x300 + RANDOM.randrange(80)) for _ in range(4))),
    "right-to-left override": lambda v: f"\u202e{v[::-1]}\u202c",
    "case at random": each(lambda c: RANDOM.choice((c.lower(), c.upper()))),
    "a caret before capitals": each(lambda c: f"^{c.lower()}" if c.isupper() else c),
    "lower case, capitals listed": _capitals_apart,
    "strong leet": lambda v: v.lower().translate(_STRONG_LEET),
    "spelled in NATO's letters": _named(_NATO),
    "spelled in German": _named(_GERMAN),
    "spelled as spoken": _named(_SPOKEN),
    "Unicode names": each(lambda c: unicodedata.name(c).lower(), "; "),
    "letters as numbers, A = 1": each(
        lambda c: str(ord(c.lower()) - 96) if c.isalpha() else f"({c})", "-"
    ),
    "tap code": each(lambda c: "." * (ord(c) // 12) + " " + "." * (ord(c) % 12 + 1), "  "),
    "Bacon's letters": each(lambda c: f"{ord(c):07b}".translate(str.maketrans("01", "AB")), " "),
    "emoji and hex digits": lambda v: "".join(
        "🍎🍌🍇🍉🍒🍓🍍🥝🍑🥥🥕🌽🍆🥔🧄🧅"[int(d, 16)] for d in v.encode().hex()
    ),
    "words of as many letters as the digits": lambda v: " ".join(
        "x" * (int(d, 16) + 1) for d in v.encode().hex()
    ),
    "every other character, then the rest": lambda v: f"{v[::2]} {v[1::2]}",
    "neighbours swapped": lambda v: "".join(p[::-1] for p in pieces(v, 2)),
    "threes backwards": lambda v: "".join(p[::-1] for p in pieces(v, 3)),
    "halves exchanged": lambda v: v[len(v) // 2 :] + v[: len(v) // 2],
    "outside in": lambda v: "".join(a + b for a, b in zip(v, v[::-1], strict=True))[: len(v)],
    "rail fence": _fence,
    "characters with places, shuffled": _scrambled,
    "atbash": lambda v: v.translate(
        str.maketrans(
            string.ascii_letters, string.ascii_lowercase[::-1] + string.ascii_uppercase[::-1]
        )
    ),
    "rot13 and rot5": lambda v: codecs.encode(v, "rot13").translate(
        str.maketrans("0123456789", "5678901234")
    ),
    "one added to each code": each(lambda c: chr(ord(c) + 1)),
    "its place added to each code": lambda v: b64(
        bytes((b + at) % 256 for at, b in enumerate(v.encode()))
    ),
    "Vigenère, the key beside it": _vigenere,
    "xor by a 16-byte key beside it": lambda v: (
        f"{xored(v, b'0123456789abcdef').hex()} key 0123456789abcdef"
    ),
    "a word of a code book for each byte": _codebook,
    "sums of two numbers": _sums,
    "a stream cipher of one's own": _keystream,
}
