"""Whether a value could be guessed: a guard that looks for it would then block innocent texts.

An estimate, and a low one: what people choose is counted by the word, what machines make by the
character. It errs towards "weak", since a person can say otherwise.
"""

from __future__ import annotations

import math
import re
from typing import Final

__all__ = ["FEWEST_BITS", "SHORTEST_CHARACTERS", "bits_of", "reads_as_word", "weakness_of"]

SHORTEST_CHARACTERS: Final = 8
FEWEST_BITS: Final = 36
"""Eight characters by a generator have 41 (letters of one case and digits) to 52 bits."""

_BEGINNING: Final = 1_024
_WORD_BITS: Final = 12.0
"""A word that people know is one of some thousands."""
_LETTER_BITS: Final = 2.3
"""What a letter of a text tells (Shannon 1951: about 2.3 bits over eight letters of context)."""
_LONGEST_WORD: Final = 12
_CLASSES: Final = ((r"[a-z]", 26), (r"[A-Z]", 26), (r"[0-9]", 10), (r"[!-~](?<![\w\-./:,+()])", 24))
"""Each with how many it has; what only parts or joins words is none."""
_OTHER_ALPHABET: Final = 100
"""Characters beyond ASCII: rarely from more than one script."""
_WORDS: Final = re.compile(r"(?<![a-zA-Z])(?:[A-Z][a-z]{3,}|[a-z]{4,}|[A-Z]{4,})(?![a-zA-Z])")
_PAIRS: Final = frozenset(
    """
    ab ac ad ag ai ak al am an ap ar as at au av aw ay ba be bi bl bo br bu by ca ce ch ci ck cl co
    cr ct cu da dd de di do dr du dy ea eb ec ed ee ef eg ei el em en ep er es et ev ew ex ey fa fe
    ff fi fl fo fr ft fu ga ge gh gi gl go gr gu ha he hi ho ht hu ia ib ic id ie if ig il im in io
    ip ir is it iv iz ja jo ju ka ke ki ko la ld le lf li ll lo ls lt lu ly ma mb me mi mm mo mp mu
    my na nc nd ne nf ng ni nk nn no ns nt nu ny ob oc od of og oh oi ok ol om on oo op or os ot ou
    ov ow oy pa pe ph pi pl po pp pr ps pt pu qu ra rc rd re rg ri rk rl rm rn ro rr rs rt ru rv ry
    sa sc se sh si sk sl sm sn so sp ss st su sw sy ta te th ti tl to tr ts tt tu tw ty ua ub uc ud
    ue ug ui ul um un up ur us ut va ve vi vo wa we wh wi wn wo wr ya ye yo za ze zi
    """.split()  # noqa: SIM905 - as with the words below
)
"""Neighbours in the words of European languages: a third of all pairs."""
_READS_AS_A_WORD: Final = 0.7
"""From this share of such pairs on; a random row of letters has half as many."""
_ROWS: Final = ("qwertyuiop", "qwertzuiop", "azertyuiop", "asdfghjkl", "yxcvbnm", "zxcvbnm")
_ROWED: Final = frozenset(
    way[at : at + 3] for row in _ROWS for way in (row, row[::-1]) for at in range(len(row) - 2)
)
_LEET: Final = str.maketrans("0134578@$!", "oieastbasi")
_COMMON: Final = frozenset(
    """
    abcdefgh access admin administrator apikey asdfghjk baseball batman changeit changeme
    charlie computer correcthorsebatterystaple default dragon example flower football freedom
    guest hello hunter iloveyou internet jennifer jordan letmein login master michael monkey
    mypassword mysecret ninja nopassword none null password passwort placeholder princess
    private public qazwsx qwerty qwertyui qwertz replaceme root sample secret shadow sunshine
    superman supersecret test testing thisisasecret token trustno undefined user username
    welcome whatever yourpassword yoursecret yourtoken zaqwsx
    """.split()  # noqa: SIM905 - a list of them would be seventy lines
)


def weakness_of(value: str) -> str | None:
    """Says why a value could be guessed, in words that do not hold it.

    Args:
        value: The value; white space around it does not count.

    Returns:
        What comes after "the value": ``has fewer than 8 characters``, ``is a common word``,
        ``is easy to guess``; None where it is strong enough.
    """
    bare = value.strip()
    if len(bare) < SHORTEST_CHARACTERS:
        return f"has fewer than {SHORTEST_CHARACTERS} characters"
    if _is_common(bare):
        return "is a common word"
    # What is strong by its beginning need not be counted to its end.
    if bits_of(bare[:_BEGINNING]) < FEWEST_BITS and bits_of(bare) < FEWEST_BITS:
        return "is easy to guess (a few words, a date, a repeated or ordered row of characters)"
    return None


def bits_of(value: str) -> float:
    """Estimates how many bits somebody who knows how it was made would have to guess."""
    alphabet = _alphabet(value)
    bits, at = 0.0, 0
    seen: set[str] = set()
    for word in _WORDS.finditer(value):
        bits += _run_bits(value, at, word.start(), alphabet, seen)
        letters = _run_bits(value, *word.span(), alphabet, seen)
        bits += min(letters, _word_bits(word[0].lower()))
        at = word.end()
    return bits + _run_bits(value, at, len(value), alphabet, seen)


def reads_as_word(letters: str) -> bool:
    """Returns whether a row of small letters reads as a word of a European language."""
    pairs = len(letters) - 1
    known = sum(letters[at : at + 2] in _PAIRS for at in range(pairs))
    return known >= _READS_AS_A_WORD * pairs


def _is_common(value: str) -> bool:
    ends = re.sub(r"^[\W\d_]+|[\W\d_]+$", "", value.casefold())
    return any(
        re.sub(r"[\W\d_]+", "", each) in _COMMON
        for each in (ends, ends.translate(_LEET), value.casefold().translate(_LEET))
    )


def _alphabet(value: str) -> int:
    size = sum(count for pattern, count in _CLASSES if re.search(pattern, value))
    return size if value.isascii() else size + _OTHER_ALPHABET


def _word_bits(word: str) -> float:
    """Counts letters of one case as a word, if they read as one; long ones as so many letters."""
    if not reads_as_word(word):
        return math.inf
    bits = len(word) * _LETTER_BITS
    return min(bits, _WORD_BITS) if len(word) <= _LONGEST_WORD else bits


def _run_bits(value: str, start: int, end: int, alphabet: int, seen: set[str]) -> float:
    """Counts characters one by one; what follows from those before it is 1 bit, as is a lone mark.

    Args:
        value: The whole value.
        start: Where the run begins in it.
        end: Where it ends.
        alphabet: How many characters there are to choose from.
        seen: The pairs that were met before, which are added to.
    """
    bits = 0.0
    full = math.log2(max(alphabet, 2))
    for at in range(start, end):
        last = value[max(at - 2, 0) : at + 1].casefold()
        alone = end - start == 1 and not value[at].isalnum()
        bits += 1.0 if alone or last[-2:] in seen or _is_ordered(last) else full
        if at > 0:
            seen.add(last[-2:])
    return bits


def _is_ordered(last: str) -> bool:
    """Whether three characters are the same, or in the order of their alphabet or a keyboard."""
    if len(last) != 3:  # noqa: PLR2004 - three are a row, two are chance
        return False
    steps = ord(last[1]) - ord(last[0]), ord(last[2]) - ord(last[1])
    regular = steps[0] == steps[1] and abs(steps[0]) <= 1
    return regular or last in _ROWED
