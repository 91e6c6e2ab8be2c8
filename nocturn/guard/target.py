"""What is looked for: a value of a secret, and how much of it somebody would have to guess.

A piece of a value proves something only where it holds what is not known anyway. The prefix of a
service's tokens, the host of an address and the header of a token are known: they count 0 bits.
"""

from __future__ import annotations

import math
import re
import string
import unicodedata
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from nocturn.guard.folding import ALPHANUMERIC, skeleton
from nocturn.limits import SECRET_CHARACTERS
from nocturn.parts import parts_of
from nocturn.strength import bits_of, reads_as_word, weakness_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nocturn.secret import Secret

__all__ = ["ENOUGH_BITS", "Target", "targets_of"]

_ALPHABETS: Final = (
    string.digits,
    string.digits + "abcdef",
    string.digits + "ABCDEF",
    string.ascii_uppercase + "234567",
    string.ascii_lowercase + "234567",
    string.ascii_lowercase,
    string.ascii_uppercase,
    string.ascii_lowercase + string.digits,
    string.ascii_uppercase + string.digits,
    string.ascii_letters + string.digits,
    string.ascii_letters + string.digits + "+/=",
    string.ascii_letters + string.digits + "-_.",
    "".join(map(chr, range(0x20, 0x7F))),
)
"""From small to large; a value is taken to be drawn from the first that holds it."""
_RANDOM_ENOUGH: Final = 0.5
"""From this share of its alphabet's bits on, a value is taken for one that a machine made."""
_LOOKED_AT: Final = 64
"""Characters of a value from which it is judged."""
_MOST_PARTS: Final = 1_024
ENOUGH_BITS: Final = 64.0
"""From so many unknown bits on, pieces of a value count as the value (the contract, section 2)."""

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://(?:[^\s/@:]*:(?P<password>[^\s/]*)@)?")
_QUERY: Final = re.compile(r"[?&#][^=&\s]*=([^&\s#]*)")
_JWT: Final = re.compile(r"eyJ[\w-]*\.(?:[\w-]*\.(?=[\w-])|[\w-]{0,24})")
"""A token's header and its claims, which are no secret; of one without a signature, its first."""
_WORD: Final = r"(?:[A-Z]?[a-z]+|[A-Z]{1,8}|(?:[A-Z][a-z]{2,}){2,})\d{0,2}"
_LEADING: Final = re.compile(rf"(?:{_WORD}[-_.:=;/@]+)+")
"""What services put in front of their tokens, such as ``sk-ant-api03-`` and ``AccountKey=``."""
_WORDS: Final = re.compile(rf"(?<![A-Za-z0-9])(?=[A-Za-z]{{2}})({_WORD})(?![A-Za-z0-9])[-_.:=;/@]*")
_PEM_HEAD: Final = re.compile(r"-----[A-Z0-9 ]+-----")
_DER: Final = re.compile(
    r"(?<![A-Za-z0-9+/])(?:MI[A-Za-z0-9+/\s]{54}|MHcCAQEEI|MC4CAQAwBQYDK2V[a-z]BCIEI)"
)
"""How a key's base64 begins, which says what kind of key it is and how long."""
_CORE_BITS: Final = 48.0
"""From so many bits on, the unknown part alone stands for the value."""


@dataclass(frozen=True, slots=False)
class Target:
    """One value that must not leave.

    Attributes:
        name: The secret's name.
        value: The value, or a part of it that is secret by itself.
        bits: For each byte of the value in UTF-8, what somebody who knows the format would have to
            guess; 0 for what is public.
    """

    name: str
    value: bytes = field(repr=False)
    bits: tuple[float, ...] = field(repr=False, compare=False, hash=False)

    @cached_property
    def unknown(self) -> float:
        """The bits of the whole value."""
        return sum(self.bits)

    @cached_property
    def folded_bits(self) -> tuple[float, ...]:
        """The bits of each byte once case and look-alike digits do not count."""
        loss = _loss(self.value)
        return tuple(each * loss for each in self.bits)

    @cached_property
    def letters(self) -> tuple[int, ...]:
        """Where each byte of the value's skeleton stands in the value."""
        return tuple(at for at, code in enumerate(self.value) if code in ALPHANUMERIC)

    @cached_property
    def core(self) -> tuple[int, int]:
        """Where that begins and ends which is the value: without what is public around it."""
        known = [at for at, each in enumerate(self.bits) if each]
        if not known or self.unknown < _CORE_BITS:
            return 0, len(self.value)
        return known[0], known[-1] + 1


def targets_of(secret: Secret, public_characters: int) -> Iterator[Target]:
    """Yields all that is looked for of a secret: nothing of one under ``SECRET_CHARACTERS``.

    Args:
        secret: The secret.
        public_characters: How many leading characters its service's format fixes.
    """
    whole = secret.value
    seen: set[bytes] = set()
    parts = parts_of(whole)[:_MOST_PARTS] if weakness_of(whole) is None else ()
    for text in (whole, *parts):
        bits = _bits_of(
            text, public_characters if text is whole else 0, parts if text is whole else ()
        )
        if text is not whole and text in whole and sum(bits) >= ENOUGH_BITS:
            continue
        for form, form_bits in _forms(text, bits):
            value = form.encode("utf-8", "surrogatepass")
            # Counted composed: a decomposed accent does not make a short value long.
            if len(unicodedata.normalize("NFC", form)) < SECRET_CHARACTERS or value in seen:
                continue
            seen.add(value)
            yield Target(secret.name, value, tuple(form_bits))


def _forms(text: str, bits: list[float]) -> Iterator[tuple[str, list[float]]]:
    """Yields a value as it is kept, and as it might stand in a text, with the bits of each byte."""
    yield text, _by_byte(text, bits)
    bare = text.strip()
    start = text.find(bare)
    bits = bits[start : start + len(bare)]
    yield bare, _by_byte(bare, bits)
    tight = [(each, bit) for each, bit in zip(bare, bits, strict=True) if not each.isspace()]
    if len(tight) != len(bare):
        yield (
            "".join(each for each, _ in tight),
            _by_byte("".join(each for each, _ in tight), [bit for _, bit in tight]),
        )
    # A value with escapes in it, such as a URL's password, is as secret without them.
    for form in (*(unicodedata.normalize(each, bare) for each in ("NFC", "NFD")), unquote(bare)):
        if form != bare:
            share = sum(bits) / max(len(form), 1)
            yield form, _by_byte(form, [share] * len(form))


def _by_byte(text: str, bits: list[float]) -> list[float]:
    if text.isascii():
        return bits
    spread: list[float] = []
    for character, each in zip(text, bits, strict=True):
        size = len(character.encode("utf-8", "surrogatepass"))
        spread += [each / size] * size
    return spread


def _bits_of(text: str, public: int, parts: tuple[str, ...]) -> list[float]:
    """Returns the bits of each character: an even share of the whole, and 0 where it is public."""
    unknown = _unknown(text, public, parts)
    secret = "".join(c for c, counts in zip(text, unknown, strict=True) if counts)
    if not secret:
        return [0.0] * len(text)
    each = _alphabet_bits(secret)
    estimate = bits_of(secret[:_LOOKED_AT]) / len(secret[:_LOOKED_AT])
    if estimate < _RANDOM_ENOUGH * each:
        each = estimate
    return [
        each if counts and not c.isspace() else 0.0 for c, counts in zip(text, unknown, strict=True)
    ]


def _alphabet_bits(secret: str) -> float:
    characters = {each for each in secret if not each.isspace()}
    for alphabet in _ALPHABETS:
        if characters <= set(alphabet):
            return math.log2(len(alphabet))
    return math.log2(len(_ALPHABETS[-1]))


def _unknown(text: str, public: int, parts: tuple[str, ...]) -> list[bool]:
    """Returns for each character whether it is unknown to somebody who knows the format.

    Whoever knows 58 bits of a value and may ask about 64 would learn the rest of it character by
    character. So all counts as known that might be: a format's words above all.
    """
    unknown = [True] * len(text)

    def known(start: int, end: int) -> None:
        unknown[start:end] = [False] * (end - start)

    if url := _URL.match(text):
        secret = [url.span("password"), *(each.span(1) for each in _QUERY.finditer(text))]
        _only(unknown, [span for span in secret if span[0] >= 0])
    elif parts:
        _only(
            unknown,
            [(text.find(each), text.find(each) + len(each)) for each in parts if each in text],
        )
    for head in _PEM_HEAD.finditer(text):
        known(*head.span())
    if jwt := _JWT.match(text):
        known(0, jwt.end())
    for der in _DER.finditer(text):
        known(*der.span())
    leading = _LEADING.match(text)
    known(0, max(leading.end() if leading else 0, min(public, len(text))))
    inner = list(unknown)
    for word in _WORDS.finditer(text):
        if reads_as_word(word[1].rstrip(string.digits).lower()):
            inner[slice(*word.span())] = [False] * len(word[0])
    if sum(inner) * _alphabet_bits(text) >= ENOUGH_BITS:
        return inner
    return unknown if any(unknown) else [True] * len(text)


def _only(unknown: list[bool], spans: Sequence[tuple[int, int]]) -> None:
    if spans:
        unknown[:] = [any(start <= at < end for start, end in spans) for at in range(len(unknown))]


def _loss(value: bytes) -> float:
    """Returns the share of a value's bits that is left in its skeleton."""
    plain = value.decode("utf-8", "replace")
    for alphabet in _ALPHABETS:
        if set(plain) <= set(alphabet):
            letters = {skeleton(each.encode()) for each in alphabet} - {b""}
            return min(1.0, math.log2(max(len(letters), 2)) / math.log2(len(alphabet)))
    return 0.5
