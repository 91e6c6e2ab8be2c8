"""What to look for: the forms in which a secret's value may stand in a text."""

from __future__ import annotations

import base64
import string
import unicodedata
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final

from nocturn.guard.reading import unescaped
from nocturn.limits import SECRET_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nocturn.secret import Secret

__all__ = ["Form", "Needle", "needles_of"]

_ALPHABET: Final = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
_BASE64_SURE: Final = 8
"""From so many whole base64 characters on, 48 bits, the half characters beside them may differ."""


class Form(Enum):
    """How a text is read for a needle."""

    AS_IS = "as it stands"
    PLAIN = "white space removed"
    BASE64 = "white space removed, the URL-safe alphabet folded into the standard one"
    HEX = "white space removed, hex digits in lower case"


@dataclass(frozen=True, slots=True)
class Needle:
    """One form of one secret.

    Attributes:
        secret: The secret's name.
        form: How to read a text for it.
        text: What to look for there.
        before: The characters of which one stands before ``text`` and holds bits of the value.
        after: The same, behind it.
    """

    secret: str
    form: Form
    text: str = field(repr=False)
    before: str = field(default="", repr=False)
    after: str = field(default="", repr=False)

    def found_in(self, text: str) -> Iterator[tuple[int, int]]:
        """Yields ``(start, end)`` of every place, overlapping ones too."""
        at = text.find(self.text)
        while at >= 0:
            end = at + len(self.text)
            left, right = text[max(at - 1, 0) : at], text[end : end + 1]
            # A core of 4 characters is 24 bits: alone it would be found in any large text.
            if len(self.text) >= _BASE64_SURE or (
                _fits(left, self.before) and _fits(right, self.after)
            ):
                yield (
                    at - bool(self.before and left and left in _ALPHABET),
                    end + bool(self.after and right and right in _ALPHABET),
                )
            at = text.find(self.text, at + 1)


def needles_of(secret: Secret) -> Iterator[Needle]:
    """Yields each form of a secret; none for a value under ``SECRET_CHARACTERS`` characters."""
    whole, bare = secret.value, secret.value.strip()
    composed, decomposed = (unicodedata.normalize(form, bare) for form in ("NFC", "NFD"))
    # A value with escapes in it, such as a URL's password, is as secret without them.
    for value in dict.fromkeys((whole, bare, composed, decomposed, unescaped(bare))):
        # Counted composed: a decomposed accent does not make a short value long.
        if len(unicodedata.normalize("NFC", value)) < SECRET_CHARACTERS:
            continue
        squeezed = "".join(value.split())
        if len(squeezed) >= SECRET_CHARACTERS:
            yield Needle(secret.name, Form.PLAIN, squeezed)
        else:
            yield Needle(secret.name, Form.AS_IS, value)
        raw = value.encode("utf-8", "surrogatepass")
        yield Needle(secret.name, Form.HEX, raw.hex())
        for offset in range(3):
            yield _base64_needle(secret.name, raw, offset)


def _base64_needle(name: str, raw: bytes, offset: int) -> Needle:
    """Returns the base64 form of a value that stands ``offset`` bytes into a group of three.

    The characters that are made of the value's bits alone are sure. At either end one more may be
    made of the value's bits and a neighbour's: any of 4 or 16 characters.
    """
    encoded = base64.b64encode(bytes(offset) + raw + b"\0\0").decode("ascii")
    first, bits_before = divmod(8 * offset, 6)
    last, bits_after = divmod(8 * (offset + len(raw)), 6)
    before = after = ""
    if bits_before:
        known = _ALPHABET.index(encoded[first])
        before = "".join(
            _ALPHABET[(unknown << 6 - bits_before) | known] for unknown in range(1 << bits_before)
        )
        first += 1
    if bits_after:
        known = _ALPHABET.index(encoded[last])
        after = _ALPHABET[known : known + (1 << 6 - bits_after)]
    return Needle(name, Form.BASE64, encoded[first:last], before, after)


def _fits(character: str, wanted: str) -> bool:
    return not wanted or (bool(character) and character in wanted)
