"""The numbers that are promised, as they are where nobody says otherwise."""

from dataclasses import asdict

import pytest

from nocturn import limits, tool
from nocturn.agents import RuntimeOptions
from nocturn.limits import Limits

MEBIBYTE = 1_048_576


def test_a_run_has_these_limits_where_none_are_given():
    assert asdict(Limits()) == {
        "wall_seconds": 10,
        "cpu_seconds": 5,
        "heap_bytes": 64 * MEBIBYTE,
        "source_bytes": MEBIBYTE,
        "console_bytes": MEBIBYTE,
        "value_bytes": MEBIBYTE,
        "call_bytes": MEBIBYTE,
        "calls": 1_000,
        "calls_in_flight": 32,
    }


def test_the_products_own_numbers_are_those_that_are_promised():
    assert (limits.ASK_SECONDS, limits.QUESTIONS_A_RUN, limits.BLOCKS_A_RUN) == (120, 10, 3)
    assert (limits.NOTE_CONTENT_BYTES, limits.NOTE_READ_BYTES) == (65_536, 131_072)
    assert (limits.NOTE_PATH_BYTES, limits.NAME_PART_BYTES) == (1_024, 255)
    assert (limits.SUMMARY_RAW_BYTES, limits.SUMMARY_CODE_POINTS) == (4_096, 120)
    assert (limits.CATALOG_BYTES, limits.CATALOG_LINE_BYTES) == (2_048, 512)
    assert (limits.CATALOG_READ_BYTES, limits.LIST_PAGE) == (8_192, 200)
    assert (limits.PERSONA_TEXT_BYTES, limits.PERSONA_FILE_BYTES) == (65_536, 2_097_152)
    assert limits.SECRET_CHARACTERS == 4
    assert RuntimeOptions().max_turns == 10


@tool(axis="read", effects="ungated")
def echo(text: str) -> str:
    """Returns what it is given."""
    return text


@pytest.mark.parametrize(
    ("most", "source"),
    [
        (MEBIBYTE - 2, '"x".repeat({})'),  # with the quotes about it
        (MEBIBYTE - 11, 'nocturn.call("echo", {{text: "x".repeat({})}}).length'),  # {"text":"…"}
        (MEBIBYTE, 'console.log("x".repeat({}))'),
        (MEBIBYTE - 2, "//{}"),
    ],
    ids=["value", "arguments", "console", "source"],
)
def test_what_is_as_large_as_may_be_passes_and_a_byte_more_does_not(
    nocturn_workspace, most, source
):
    ws = nocturn_workspace(tools=[echo])
    for size, passes in ((most, True), (most + 1, False)):
        text = source.replace("{}", "x" * size) if source == "//{}" else source.format(size)
        result = ws.run(text)
        assert result.ok is passes, result.error
