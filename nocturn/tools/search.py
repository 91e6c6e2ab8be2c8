"""``nocturn.memory.search``: the notes that have some words, found without reading them all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from nocturn import limits
from nocturn.errors import BAD_ARGUMENTS, NocturnError
from nocturn.registry.tool import Tool, tool

if TYPE_CHECKING:
    from collections.abc import Callable

    from nocturn.store.search import NoteSearch
    from nocturn.store.words import Term

__all__ = ["search_tools"]


def search_tools(search: Callable[[], NoteSearch]) -> list[Tool]:
    """Returns the tool that searches.

    Args:
        search: Gives the search in the notes; SQLite is loaded with it.
    """

    @tool(
        axis="read",
        effects="ungated",
        canonical=_canonical,
        caps={"query": limits.SEARCH_QUERY_BYTES},
        page={
            "returns": "The notes that have every word and phrase, the best first; words in a "
            "path or a summary count for more. `snippet` is plain text on one line: some thirty "
            "words around the first that was found, with `…` where it was cut:\n\n"
            '    [{"path": "people/lina.md", "summary": "daughter, 7 years old",\n'
            '      "snippet": "Likes dinosaurs. Starts school in August."}]',
            "notes": "A word is found whatever its case and accents. Where a script has no spaces "
            "between words (Chinese, Japanese, Thai, …; Korean as well), any part of a sentence "
            "is. A secret's value is shown as `[REDACTED]`, and cannot be searched for, not even "
            "in part. Of a file over 128 KiB the first 128 KiB are searched.",
            "wrapper": "nocturn.memory.search(query, {limit})",
            "example": {"query": 'dinosaur* "starts school"', "limit": 5},
        },
    )
    def memory_search(
        query: Annotated[
            str,
            'Words, all of which a note must have; "several words in a row"; and beginn* for a '
            "word that begins so. At most 1,024 bytes and 32 terms.",
        ],
        limit: Annotated[int, "Notes at most, 1 to 50."] = limits.SEARCH_HITS_DEFAULT,
    ) -> list[dict[str, Any]]:
        """Find notes by what they say, the best first: path, summary, and a snippet of each."""
        return [each.to_dict() for each in search().search(_terms(query), limit)]

    return [memory_search]


def _canonical(arguments: dict[str, Any]) -> dict[str, Any]:
    limit = arguments.get("limit", limits.SEARCH_HITS_DEFAULT)
    if not 1 <= limit <= limits.SEARCH_HITS:
        raise NocturnError(
            BAD_ARGUMENTS,
            f"limit is {limit} and must be 1 to {limits.SEARCH_HITS}",
            detail={"field": "limit"},
        )
    return arguments


def _terms(query: str) -> tuple[Term, ...]:
    from nocturn.store.words import terms_of

    terms = terms_of(query)
    if 1 <= len(terms) <= limits.SEARCH_TERMS:
        return terms
    reason = f"has {len(terms)} terms, over the limit of {limits.SEARCH_TERMS}: look for fewer"
    if not terms:
        reason = "has no word: give one that the notes have"
    raise NocturnError(BAD_ARGUMENTS, f"query {reason}", detail={"field": "query"})
