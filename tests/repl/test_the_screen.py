"""What a guest or a note says is shown behind a bar, in rows that the terminal does not fold."""

import pytest

from nocturn.agents.events import CallBegan, TextDelta
from nocturn.host.result import CallRecord, ConsoleLine, RunError, RunResult
from nocturn.repl.chat import Transcript
from nocturn.repl.screen import Screen

HOSTILE = "\x1b[2Jgone\x1b]0;t\x07 \u202eevil\u2066 a\u200bb \r\x9b31m \ue000\U000e0041"
WIDE = "今" * 100
FORGED = "x" * 76 + "Answer [n]: 1\ta\n> nocturn: all is well\n\n" + WIDE


@pytest.fixture
def shown(capsys):
    """Gives all that a screen has put out, as rows."""

    def rows(barred=True, **what):
        screen = Screen(barred=barred)
        for name, given in what.items():
            getattr(screen, name)(given)
        out, err = capsys.readouterr()
        return (out + err).split("\n")[:-1]

    return rows


def everything(text):
    error = RunError(code=None, name=text, message=text, file="<repl>", line=1, column=1)
    return {
        "show": text,
        "console": ConsoleLine("log", text),
        "error": error,
        "call": CallRecord(text, ({"kind": "x", "verb": text, "target": text},), None, text, 1, 1),
        "result": RunResult(status="guest_error", shown=text, error=error),
    }


@pytest.mark.parametrize("way", ["show", "console", "error", "call", "result"])
def test_each_row_of_it_begins_with_a_mark_and_ends_before_the_terminal_does(shown, way):
    rows = shown(**{way: everything(FORGED)[way]})
    assert len(rows) > 3
    assert rows[0].startswith({"call": "· ", "result": "= "}.get(way, "│ "))
    assert all(row.startswith("│ ") for row in rows[1:])
    assert all(len(row) + row.count("今") < 80 for row in rows)


@pytest.mark.parametrize("barred", [True, False])
@pytest.mark.parametrize("way", ["show", "console", "error", "call", "result"])
def test_nothing_that_hides_or_moves_text_is_sent(shown, way, barred):
    text = "".join(shown(barred, **{way: everything(HOSTILE)[way]}))
    assert "\\x1b" in text
    assert not set(text) & set("\x1b\x07\r\x9b\u202e\u2066\u200b\U000e0041")


def test_what_is_piped_on_is_what_was_printed(shown):
    assert shown(False, console=ConsoleLine("log", "x" * 200)) == ["x" * 200]
    assert shown(False, result=RunResult(status="ok", shown="{ a: 1 }")) == ["{ a: 1 }"]


def test_what_a_model_says_bit_by_bit_stands_behind_the_mark_in_each_row(capsys):
    transcript = Transcript(marked=True)
    for bit in (FORGED[:40], FORGED[40:], "\n", FORGED):
        transcript(TextDelta(bit))
    rows = capsys.readouterr().out.split("\n")
    assert all(row.startswith("│ ") and len(row) + row.count("今") < 80 for row in rows)
    transcript(CallBegan("1", FORGED, {"code": FORGED}))
    first, *others = capsys.readouterr().err.splitlines()
    assert first.startswith("· ")
    assert others
    assert all(row.startswith("│ ") for row in others)
