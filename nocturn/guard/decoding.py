"""What text stands for in the encodings that turn bytes into letters and back.

Nothing here trusts that an encoding begins where a text does, has its padding, or is all there:
each is undone at every phase that it may have, over all of its alphabet's characters in a text.
"""

from __future__ import annotations

import binascii
import re
import string
from typing import TYPE_CHECKING, Final

from nocturn.guard.reading import Places, Reading, Several, edited, kept_of, of_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nocturn.guard.inflating import Budget

__all__ = [
    "base32",
    "base64",
    "base85",
    "binary",
    "hexadecimal",
    "in_runs",
    "morse",
    "numbers",
    "radix",
]

_ASCII: Final = bytes(range(256))
_LETTERS: Final = string.ascii_letters.encode()
_DIGITS: Final = string.digits.encode()
_BASE64: Final = _LETTERS + _DIGITS + b"+/"
_NOT_BASE64: Final = _ASCII.translate(None, _BASE64)
_NOT_URL: Final = _ASCII.translate(None, _LETTERS + _DIGITS + b"-_")
_FROM_URL: Final = bytes.maketrans(b"-_", b"+/")
_NOT_HEX: Final = _ASCII.translate(None, string.hexdigits.encode())
_NOT_BITS: Final = _ASCII.translate(None, b"01")
_RUN: Final = re.compile(rb"[A-Za-z0-9+/_-]{16,}")
_HEX_RUN: Final = re.compile(rb"[0-9A-Fa-f]{16,}")
_FEWEST_BITS: Final = 64


def base64(source: Reading) -> Iterator[Reading]:
    """Yields what a text is in base64, either alphabet, whatever stands between its characters."""
    standard = source.data.translate(None, _NOT_BASE64)
    yield _base64_phases(kept_of(source, standard, _NOT_BASE64))
    url = source.data.translate(_FROM_URL, _NOT_URL)
    if url != standard:
        yield _base64_phases(kept_of(source, url, _NOT_URL))


def hexadecimal(source: Reading) -> Reading:
    """Returns what a text is in hex, with ``0x`` and whatever else between its digits."""
    marks = [(*each.span(), b"") for each in re.finditer(rb"0[xX]", source.data)]
    bare = edited(source, marks) if marks else source
    digits = kept_of(bare, bare.data.translate(None, _NOT_HEX), _NOT_HEX)
    rows = [_unhexed_bytes(digits.data, phase) for phase in range(2)]
    return Several(rows, lambda phase: _unhexed(digits, phase), plain=True)


def in_runs(source: Reading) -> Iterator[tuple[Reading, list[int]]]:
    """Yields what the unbroken runs of base64 and hex in a text are, and where each begins in it.

    Each phase of all the runs is one reading, so that what is done with it costs one step in all.
    """
    runs = [each.span() for each in _RUN.finditer(source.data)]
    for phase in range(4) if runs else ():
        digits, firsts = _joined(source, runs, phase, 4)
        text = Reading(digits.data.translate(_FROM_URL), digits)
        yield _unbased(text, 0), [first // 4 * 3 for first in firsts]
    runs = [each.span() for each in _HEX_RUN.finditer(source.data)]
    for phase in range(2) if runs else ():
        digits, firsts = _joined(source, runs, phase, 2)
        yield _unhexed(digits, 0), [first // 2 for first in firsts]


def _joined(
    source: Reading, runs: list[tuple[int, int]], phase: int, group: int
) -> tuple[Reading, list[int]]:
    """Returns the runs from a phase on, each filled up to whole groups, and where each begins."""
    pieces: list[bytes] = []
    firsts: list[int] = []
    size = 0
    for start, end in runs:
        firsts.append(size)
        fill = -(end - start - phase) % group
        pieces += (source.data[start + phase : end], b"A" * fill)
        size += end - start - phase + fill

    def places() -> Places:
        starts: list[int] = []
        for start, end in runs:
            fill = -(end - start - phase) % group
            starts += (*range(start + phase, end), *([end - 1] * fill))
        return starts, [at + 1 for at in starts]

    return Reading(b"".join(pieces), source, places), firsts


def _base64_phases(digits: Reading) -> Reading:
    rows = [_unbased_bytes(digits.data, phase) for phase in range(4)]
    return Several(rows, lambda phase: _unbased(digits, phase), plain=True)


def _unbased_bytes(digits: bytes, phase: int) -> bytes:
    text = digits[phase:]
    return binascii.a2b_base64(text + b"A" * (-len(text) % 4))


def _unbased(digits: Reading, phase: int) -> Reading:
    data = _unbased_bytes(digits.data, phase)
    size = len(data)
    last = len(digits.data)

    def places() -> Places:
        starts = [min(phase + at * 8 // 6, last - 1) for at in range(size)]
        ends = [min(phase + (at * 8 + 7) // 6 + 1, last) for at in range(size)]
        return starts, ends

    return Reading(data, digits, places, plain=True)


def _unhexed_bytes(digits: bytes, phase: int) -> bytes:
    size = (len(digits) - phase) // 2
    return binascii.unhexlify(digits[phase : phase + 2 * size])


def _unhexed(digits: Reading, phase: int) -> Reading:
    data = _unhexed_bytes(digits.data, phase)

    def places() -> Places:
        starts = range(phase, phase + 2 * len(data), 2)
        return starts, [at + 2 for at in starts]

    return Reading(data, digits, places, plain=True)


_BASE32: Final = (
    (b"abcdefghijklmnopqrstuvwxyz234567", "of RFC 4648"),
    (b"0123456789abcdefghijklmnopqrstuv", "extended hex, of RFC 4648"),
    (b"0123456789abcdefghjkmnpqrstvwxyz", "Crockford's"),
    (b"ybndrfg8ejkmcpqxot1uwisza345h769", "z-base-32"),
)
_PYTHON32: Final = b"0123456789abcdefghijklmnopqrstuv"


def base32(source: Reading, *, rare: bool) -> Iterator[Reading]:
    """Yields what a text is in base32, at each of eight alignments, also in rarer alphabets."""
    lower = source.data.lower()
    for alphabet, _ in _BASE32 if rare else _BASE32[:1]:
        dropped = _ASCII.translate(None, alphabet + alphabet.upper())
        table = bytes.maketrans(alphabet, _PYTHON32)
        digits = kept_of(source, lower.translate(table, dropped), dropped)
        yield from _bits(digits, 5)


def binary(source: Reading) -> Iterator[Reading]:
    """Yields what the zeros and ones of a text are."""
    data = source.data.translate(None, _NOT_BITS)
    if len(data) >= _FEWEST_BITS:
        yield from _bits(kept_of(source, data, _NOT_BITS), 1)


def _bits(digits: Reading, width: int) -> Iterator[Reading]:
    """Yields the bytes of a row of digits at each of the eight alignments, counted from its end."""
    count = len(digits.data)
    if count * width < _FEWEST_BITS // 2:
        return
    # A power of two as base: Python reads such numbers in linear time, however long.
    number = int(digits.data, 1 << width)
    rows = [
        (number >> shift).to_bytes((count * width - shift + 7) // 8, "big") for shift in range(8)
    ]

    def part(shift: int) -> Reading:
        places = _bit_places(count, width, shift, len(rows[shift]))
        return Reading(rows[shift], digits, places, plain=True)

    yield Several(rows, part, plain=True)


def _bit_places(count: int, width: int, shift: int, size: int) -> Callable[[], Places]:
    def places() -> Places:
        starts: list[int] = []
        ends: list[int] = []
        for at in range(size):
            low = shift + 8 * (size - 1 - at)
            starts.append(max(0, count - 1 - (low + 7) // width))
            ends.append(count - low // width)
        return starts, ends

    return places


_NUMBER: Final = re.compile(rb"(?<![0-9A-Za-z.])(?:[A-Za-z]+-)?(\d{1,3})(?![0-9A-Za-z])")
_FEWEST_NUMBERS: Final = 6
_BYTE: Final = 256


def numbers(source: Reading) -> Iterator[Reading]:
    """Yields what the numbers of a text are as codes of characters, decimal and octal."""
    found = [*_NUMBER.finditer(source.data)]
    if len(found) < _FEWEST_NUMBERS:
        return
    for base in (10, 8):
        rows = [
            (*each.span(1), bytes((code,)))
            for each in found
            if (code := _code(each[1], base)) is not None
        ]
        yield of_rows(source, rows)


def _code(text: bytes, base: int) -> int | None:
    if base == 8 and text.translate(None, b"01234567"):  # noqa: PLR2004 - octal
        return None
    code = int(text, base)
    return code if code < _BYTE else None


_MORSE_RUN: Final = re.compile(rb"(?:[.\-\xb7_]{1,6}[ /|,]+){7,}[.\-_]{1,6}")
_SIGN: Final = re.compile(rb"[.\-_]{1,6}")
_MORSE: Final = {
    b".-": b"a", b"-...": b"b", b"-.-.": b"c", b"-..": b"d", b".": b"e", b"..-.": b"f",
    b"--.": b"g", b"....": b"h", b"..": b"i", b".---": b"j", b"-.-": b"k", b".-..": b"l",
    b"--": b"m", b"-.": b"n", b"---": b"o", b".--.": b"p", b"--.-": b"q", b".-.": b"r",
    b"...": b"s", b"-": b"t", b"..-": b"u", b"...-": b"v", b".--": b"w", b"-..-": b"x",
    b"-.--": b"y", b"--..": b"z", b"-----": b"0", b".----": b"1", b"..---": b"2", b"...--": b"3",
    b"....-": b"4", b".....": b"5", b"-....": b"6", b"--...": b"7", b"---..": b"8", b"----.": b"9",
    b"-....-": b"-", b"..--.-": b"_",
}  # fmt: skip


def morse(source: Reading) -> Iterator[Reading]:
    """Yields what the dots and dashes of a text say (ITU-R M.1677)."""
    rows = [
        (run.start() + sign.start(), run.start() + sign.end(), _MORSE[key])
        for run in _MORSE_RUN.finditer(source.data)
        for sign in _SIGN.finditer(run[0])
        if (key := sign[0].replace(b"_", b"-")) in _MORSE
    ]
    if rows:
        yield of_rows(source, rows)


_WORD_RUN: Final = re.compile(rb"[A-Za-z0-9]{18,400}")
_RADIXES: Final = (
    b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    _DIGITS + string.ascii_uppercase.encode() + string.ascii_lowercase.encode(),
    _DIGITS + string.ascii_lowercase.encode() + string.ascii_uppercase.encode(),
)
_LEADING: Final = 3
"""Characters in front that may belong to the text before an encoded number, and one more."""
_DIGITS_AT_ONCE: Final = 8


def radix(source: Reading, budget: Budget) -> Iterator[Reading]:
    """Yields what runs of letters and digits are as numbers in base 36, 58 and 62."""
    rows: list[tuple[int, int, bytes]] = []
    for run in _WORD_RUN.finditer(source.data):
        if not budget.takes_radix(len(run[0])):
            break
        for number in _numbers_of(run[0]):
            size = (number.bit_length() + 7) // 8
            rows.append((run.start(), run.end(), number.to_bytes(size, "big") + b"\0"))
    if rows:
        yield of_rows(source, rows)


def _numbers_of(text: bytes) -> Iterator[int]:
    lower = text.lower()
    if text in (lower, text.upper()):
        for skip in range(_LEADING):
            yield int(lower[skip:], 36)
    for alphabet in _RADIXES:
        if text.translate(None, alphabet):
            continue
        base = len(alphabet)
        digits = text.translate(bytes.maketrans(alphabet, bytes(range(base))))
        number = _number(digits, base)
        yield number
        for skip in range(1, _LEADING):
            number -= digits[skip - 1] * base ** (len(digits) - skip)
            yield number


def _number(digits: bytes, base: int) -> int:
    """Adds some digits at a time to the long number: most of the work is then on short ones."""
    number = 0
    for at in range(0, len(digits), _DIGITS_AT_ONCE):
        row = digits[at : at + _DIGITS_AT_ONCE]
        short = 0
        for digit in row:
            short = short * base + digit
        number = number * base ** len(row) + short
    return number


_DENSE_RUN: Final = re.compile(rb"[!-~]{20,}")
_BASE85: Final = tuple(
    {code: at for at, code in enumerate(alphabet)}
    for alphabet in (
        bytes(range(33, 118)),
        _DIGITS
        + string.ascii_uppercase.encode()
        + string.ascii_lowercase.encode()
        + b"!#$%&()*+-;<=>?@^_`{|}~",
        _DIGITS
        + string.ascii_lowercase.encode()
        + string.ascii_uppercase.encode()
        + b".-:+=^!/*?&<>()[]{}@%$#",
    )
)
_WORD: Final = 1 << 32


def base85(source: Reading, budget: Budget) -> Iterator[Reading]:
    """Yields what runs without white space are in base85: Adobe's, Git's and ZeroMQ's."""
    rows: list[tuple[int, int, bytes]] = []
    for run in _DENSE_RUN.finditer(source.data):
        text = run[0]
        if text.isalnum():
            continue
        if not budget.takes_dense(len(text)):
            break
        rows += (
            (run.start(), run.end(), data)
            for values in _BASE85
            for phase in range(5)
            if (data := _un85(text, values, phase))
        )
    if rows:
        yield of_rows(source, rows)


def _un85(text: bytes, values: dict[int, int], phase: int) -> bytes:
    digits = [values.get(code, _BYTE) for code in text[phase:]]
    digits += [84] * (-len(digits) % 5)
    words = bytearray()
    for at in range(0, len(digits), 5):
        one, two, three, four, five = digits[at : at + 5]
        word = (((one * 85 + two) * 85 + three) * 85 + four) * 85 + five
        words += word.to_bytes(4, "big") if word < _WORD else b"\0"
    return bytes(words) + b"\0"
