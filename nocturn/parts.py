"""What of a value is a secret by itself: a key's lines, a URL's password, the strings of a JSON.

A leak is seldom the whole file. What stands in it that is no secret (a host, a user's name, a
public key, the words of a format) is not a part, since looking for it would block innocent texts.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from nocturn.strength import weakness_of

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["parts_of"]

_PEM: Final = re.compile(
    r"-----BEGIN ([A-Z0-9 ]{1,64})-----(.*?)(?:-----END \1-----|\Z)", re.DOTALL
)
_PUBLIC: Final = ("PUBLIC", "CERTIFICATE", "CRL", "PARAMETERS")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_OPENSSH: Final = "b3BlbnNzaC1rZXktdjEA"
"""``openssh-key-v1`` and a NUL, in base64: the first line of such a key is the same in all."""
_ASSIGNED: Final = re.compile(r"(?:export\s+)?[A-Za-z_][\w.-]{0,127}\s*[=:]\s*(\S.*)")
_HOST: Final = re.compile(r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?::\d+)?\.?")
_EMAIL: Final = re.compile(r"[\w.+-]+@[A-Za-z0-9.-]+")
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
_PATH: Final = re.compile(r"(?:~|\.{0,2}|[A-Za-z]:)[/\\][\w./\\ -]*")
_WORD: Final = r"(?:[A-Z]?[a-z]{1,12}|[A-Z]{1,12})"
_NAME: Final = re.compile(rf"{_WORD}(?:[-_.]?{_WORD}){{0,2}}(?:[-_.]?\d{{1,4}})?")
"""Up to three words joined, as regions, kinds and services are named."""
_LARGEST_DEPTH: Final = 32


def parts_of(value: str) -> tuple[str, ...]:
    """Gives the parts of a value that must not leave either.

    Args:
        value: A secret's whole value.

    Returns:
        Each part once, in the order in which it stands, the whole value not among them. None is
        shorter than 8 characters, a common word or of low entropy.
    """
    found = dict.fromkeys(part for part in _inner(value.strip(), 0) if weakness_of(part) is None)
    return tuple(part for part in found if part not in (value, value.strip()))


def _inner(text: str, depth: int) -> Iterator[str]:
    """Yields what stands in a text; the text itself where it has no inner form and is no name."""
    if depth > _LARGEST_DEPTH:
        return
    if text[:1] in ("{", "[", '"') and (leaves := _leaves_of(text)) is not None:
        for leaf in leaves:
            yield from _inner(leaf.strip(), depth + 1)
    elif "-----BEGIN " in text:
        rest = _PEM.sub("\n", text)
        for block in _PEM.finditer(text):
            yield from _of_pem(block[1], block[2])
        if rest.strip():
            yield from _inner(rest.strip(), depth + 1)
    elif _URL.fullmatch(text):
        yield from _of_url(text)
    else:
        yield from _of_lines(text, depth)


def _of_lines(text: str, depth: int) -> Iterator[str]:
    lines = text.splitlines()
    if len(lines) > 1:
        for line in lines:
            yield from _inner(line.strip(), depth + 1)
    elif depth and (assigned := _ASSIGNED.fullmatch(text)) and not _is_base64(text):
        yield from _inner(_unquoted(assigned[1].rstrip().rstrip(",;")), depth + 1)
    elif not any(each.fullmatch(text) for each in (_HOST, _EMAIL, _PATH, _NAME)):
        yield text


def _of_pem(label: str, body: str) -> Iterator[str]:
    if any(word in label for word in _PUBLIC):
        return
    # Some carry the line breaks of a PEM as the two characters of their escape.
    lines = [line.strip() for line in re.split(r"\\r|\\n|[\r\n]", body)]
    lines = [line for line in lines if _BASE64.fullmatch(line)]
    whole = "".join(lines)
    if whole.startswith(_OPENSSH) and len(lines) > 1:
        lines = lines[1:]
    yield whole
    yield from lines


def _leaves_of(text: str) -> list[str] | None:
    """Gives the strings of a JSON text that are no keys; None where it is none."""
    try:
        todo: list[Any] = [json.loads(text)]
    except (ValueError, RecursionError):
        return None
    leaves: list[str] = []
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            leaves.append(item)
        elif isinstance(item, dict | list):
            inner: list[Any] = [*(item.values() if isinstance(item, dict) else item)]
            todo += reversed(inner)
    return leaves


def _of_url(text: str) -> Iterator[str]:
    try:
        url = urlsplit(text)
        password, query = url.password, url.query or url.fragment
    except ValueError:
        return
    if password:
        yield password
        yield unquote(password)
    for _, given in parse_qsl(query, max_num_fields=None):
        yield given


def _is_base64(text: str) -> bool:
    return text.endswith("=") and _BASE64.fullmatch(text) is not None


def _unquoted(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text
