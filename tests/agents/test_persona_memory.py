"""The persona's memory by hand: the first seed's examples, and each promise that is made of it."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import pytest

from nocturn.agents import compose_soul, memory_tool

LARGE = 65_536
FILES = ("AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "TOOLS.md", "HEARTBEAT.md", "MEMORY.md")


@pytest.fixture
def persona(tmp_path):
    """Returns a function that does one action, and what the file is in bytes afterwards."""

    class Persona:
        folder = tmp_path / "ava"
        tool = memory_tool(folder)

        def does(self, action, text, **more):
            return self.tool.execute({"action": action, "text": text, **more})

        def has(self, data, name="MEMORY.md"):
            self.folder.mkdir(exist_ok=True)
            (self.folder / name).write_bytes(data)

        def file(self, name="MEMORY.md"):
            return (self.folder / name).read_bytes()

    return Persona()


def test_the_seeds_first_example(persona):
    persona.has(b"- Likes green tea.")
    assert not persona.does("add", "Likes hiking").is_error
    assert b"- Likes hiking" in persona.file()
    persona.does("replace", "green tea", **{"with": "oolong"})
    assert b"oolong" in persona.file()
    assert not persona.does("remove", "- Likes hiking\n").is_error
    assert persona.file() == b"- Likes oolong.\n"


def test_the_seeds_second_example(persona):
    persona.has(b"- Onboarded 2026-07.")
    missed = persona.does("replace", "nonexistent", **{"with": "x"})
    assert (missed.is_error, missed.output) == (True, "not found: nonexistent")
    assert persona.file() == b"- Onboarded 2026-07."
    assert not persona.does("add", "Speaks Tamil", target="user").is_error
    assert b"Speaks Tamil" in persona.file("USER.md")
    assert b"Speaks Tamil" not in persona.file()


def test_success_is_told_in_one_line_and_the_first_entry_makes_the_file(persona):
    told = persona.does("add", "Prefers dark roast")
    assert (told.output, told.is_error) == ("ok (add → MEMORY.md); loads next session", False)
    assert persona.file() == b"- Prefers dark roast\n"
    told = persona.does("replace", "dark", target="self", **{"with": "light"})
    assert told.output == "ok (replace → MEMORY.md); loads next session"


@pytest.mark.parametrize(
    "arguments",
    [
        {"action": "add", "text": ""},
        {"action": "remove", "text": ""},
        {"action": "forget", "text": "x"},
        {"action": "add", "text": "x", "target": "soul"},
        {"action": "add"},
        {"text": "x"},
        {"action": "add", "text": 1},
        {"action": "add", "text": "x", "path": "../x"},
        {"action": "add", "text": "x" * (LARGE + 1)},
        {"action": "add", "text": "\0"},
        {"action": "add", "text": "\ud800"},
        {},
        None,
    ],
)
def test_what_is_no_action_is_an_error_and_makes_nothing(persona, arguments):
    assert persona.tool.execute(arguments).is_error
    assert not persona.folder.exists()


def test_what_is_there_more_than_once_is_an_error_with_its_lines_unless_all_is_meant(persona):
    persona.has(b"tea\ncoffee\ntea and tea\n")
    told = persona.does("remove", "tea")
    assert told.is_error
    assert "1, 3, 3" in told.output
    assert persona.file() == b"tea\ncoffee\ntea and tea\n"
    assert not persona.does("replace", "tea", all=True, **{"with": "milk"}).is_error
    assert persona.file() == b"milk\ncoffee\nmilk and milk\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", b"- new\n"),
        (b"old", b"old\n- new\n"),
        (b"old\n", b"old\n- new\n"),
        (b"old\r\nolder", b"old\r\nolder\r\n- new\r\n"),
        (b"\xef\xbb\xbfold\n\n", b"\xef\xbb\xbfold\n\n- new\n"),
        (b"  \n", b"  \n- new\n"),
    ],
)
def test_an_entry_goes_to_the_end_and_line_ends_stay_as_they_are(persona, before, after):
    persona.has(before)
    assert not persona.does("add", "new").is_error
    assert persona.file() == after


def test_sizes_are_refused_and_never_cut(persona):
    assert not persona.does("add", "x" * LARGE).is_error
    persona.has(b"y" * 2_097_149)
    assert persona.does("add", "f").is_error
    assert len(persona.file()) == 2_097_149


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "form",
    [
        *("a\n## {}", "a\r## {}", "a\u2028  ## {}", "a\n# {} and more", "a\n{}\n==="),
        *("a\n## **{}**", "a\n##_{}_", "a\n## `{}`", "a\n## [{}](x)", "a\n**{}**\n---"),
    ],
)
def test_no_entry_opens_a_section_of_the_soul(persona, form, name):
    persona.has(b"- old\n")
    assert persona.does("add", form.format(name)).is_error
    assert persona.file() == b"- old\n"


def test_no_change_makes_a_section_of_what_is_there(persona):
    for before, text, instead in (
        (b"x## SOUL.md\n", "x", ""),
        (b"y\n#x# SOUL.md\n", "x", ""),
        (b"y\n## SOXUL.md\n", "X", ""),
        (b"see ## SOUL.md\n", "see ", "see\n"),
    ):
        persona.has(before)
        assert persona.does("replace", text, **{"with": instead}).is_error, before
        assert persona.file() == before
    assert not persona.does("add", "more of it in SOUL.md\n## See SOUL.md\n`SOUL.md`").is_error
    persona.has(b"## SOUL.md is what a person wrote\n- x\n")
    assert not persona.does("remove", "- x\n").is_error  # one that is there already may stay


def test_the_soul_has_the_files_in_their_order_and_cuts_what_is_too_long(persona):
    assert compose_soul(persona.folder) == ""
    for name in reversed(FILES):
        persona.has(f"\n  {name} says é \r\n".encode(), name)
    persona.has(b"not a part", "OTHER.md")
    assert compose_soul(persona.folder) == "\n\n".join(f"## {n}\n\n{n} says é" for n in FILES)
    persona.has(b"a" * 2_097_151 + "é".encode(), "SOUL.md")
    soul = compose_soul(persona.folder)
    assert "a\n[truncated: exceeds 2 MB bootstrap cap]\n\n## IDENTITY.md" in soul
    assert len(persona.file("SOUL.md")) == 2_097_153


def test_the_soul_is_not_held_up_nor_led_out(persona, tmp_path):
    persona.has(b"I am Ava.", "SOUL.md")
    (tmp_path / "secret").write_text("elsewhere")
    (persona.folder / "USER.md").symlink_to(tmp_path / "secret")
    (persona.folder / "TOOLS.md").mkdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(persona.folder / "MEMORY.md")
    persona.has(b"\xff\xfe", "IDENTITY.md")
    assert compose_soul(persona.folder) == (
        "## SOUL.md\n\nI am Ava.\n\n## IDENTITY.md\n\n\ufffd\ufffd"
    )
    assert persona.does("add", "x").is_error
    assert persona.does("add", "x", target="user").is_error
    assert (tmp_path / "secret").read_text() == "elsewhere"


ADDING = """
import sys
from nocturn.agents import memory_tool
tool = memory_tool(sys.argv[1])
for number in range(int(sys.argv[3])):
    told = tool.execute({"action": "add", "text": f"{sys.argv[2]} {number}"})
    assert not told.is_error, told.output
    print(number, flush=True)
"""


def adding(folder, name, count):
    return subprocess.Popen(
        [sys.executable, "-c", ADDING, str(folder), name, str(count)],
        stdout=subprocess.PIPE,
        text=True,
    )


def test_eight_processes_lose_nothing(tmp_path):
    """scripts/memory_soak has them add 50 each."""
    folder = tmp_path / "ava"
    writers = [adding(folder, f"writer {n}", 12) for n in range(8)]
    assert [each.communicate(timeout=120) and each.returncode for each in writers] == [0] * 8
    lines = (folder / "MEMORY.md").read_text().splitlines()
    assert len(lines) == len(set(lines)) == 96


def test_whoever_is_killed_leaves_whole_lines_and_loses_none_that_was_told(tmp_path):
    folder = tmp_path / "ava"
    told = 0
    for n in range(6):
        with adding(folder, f"writer {n}", 10_000) as writer:
            for _ in range(random.Random(n).randrange(1, 8)):
                assert writer.stdout.readline()
                told += 1
            writer.kill()
            told += len(writer.stdout.read().splitlines())
    lines = (folder / "MEMORY.md").read_text().splitlines(keepends=True)
    assert all(line.startswith("- writer ") and line.endswith("\n") for line in lines)
    assert told <= len(lines) <= told + 6
    (folder / ".nocturn-0123456789abcdef.tmp").write_text("half a ch")
    with adding(folder, "the next", 1) as writer:
        assert writer.stdout.read() == "0\n"
    assert sorted(os.listdir(folder)) == [".nocturn", "MEMORY.md"]
