"""``nocturn repl``: piped in, and at a real terminal."""

import json
import os
import re
import signal
import stat
import sys
import termios

import pytest

ASKING = "version = 1\n[[rule]]\nruling = 'ask'\nrecall = 'session'\nkind = 'memory'\n"
on_posix = pytest.mark.skipif(sys.platform == "win32", reason="terminals are POSIX's")


@pytest.fixture
def prompt(terminal, command, environment):
    """Starts a session at a terminal, and waits until it can be typed at."""
    environment["PROMPT_TOOLKIT_NO_CPR"] = "1"

    def begin(*words):
        shell = terminal(*command, *(words or ("repl",)))
        ready(shell)
        return shell

    return begin


def ready(shell):
    """Waits until the prompt reads keys: from then on a paste is marked as one."""
    while shell.shown.rfind("\x1b[?2004h") <= shell.shown.rfind("\x1b[?2004l"):
        assert shell._read(), shell.shown


def shows(shell, keys, until):
    """Types keys, and returns what comes of them, up to and with ``until``."""
    seen = len(shell.shown)
    shell.type(keys)
    while until not in shell.shown[seen:]:
        assert shell._read(), shell.shown
    return shell.shown[seen:]


def entered(shell, line):
    """Types a line, and returns what comes of it, up to the next prompt."""
    seen = len(shell.shown)
    shows(shell, line + "\r", "\x1b[?2004l")
    ready(shell)
    return shell.shown[seen:]


def left(shell):
    """Leaves, and returns the exit status."""
    ready(shell)
    shell.type("\x04")
    return shell.end()


# ---- piped in -----------------------------------------------------------------------------------


def test_what_is_piped_in_runs_statement_by_statement(nocturn):
    done = nocturn(
        "repl",
        stdin="const a = 1\nfunction twice(n) {\n  return 2 * n\n}\ntwice(a + 20)\n"
        "const a = 'again'; a\nconsole.log(`two\nlines`)\n{b: 1}\n",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "42\n'again'\ntwo\nlines\n{ b: 1 }\n"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("1\nnope\n2", 1),
        ("1\n.nope\n2", 1),
        ("nocturn.memory.write('a.md', 's', 'c')\n2", 3),
        ("for (;;);\n2", 124),
        ("1\nfunction f() {", 1),
        ("", 0),
        (".quit\nnope", 0),
    ],
)
def test_the_first_that_fails_ends_it_and_the_status_tells(nocturn, text, status):
    # Short where it is used up: elsewhere what a first call loads may take longer.
    done = nocturn("repl", "--timeout", "0.5" if "for" in text else "10", stdin=text)
    assert done.returncode == status
    assert "2\n" not in done.stdout


def test_the_commands_do_what_they_say(nocturn, tmp_path):
    (tmp_path / "lib.js").write_text("const loaded = 7\n")
    text = """const kept = 1
.load lib.js
loaded + kept
nocturn.memory.write("people/lina.md", "daughter", "Likes cats.").path
.memory people/
.catalog
.show people/lina.md
.vars
.tools memory_write
.limits
.log
.save kept.js
.undo
.memory
.reset
typeof kept
.help
"""
    done = nocturn("repl", "--watched", stdin=text)
    assert done.returncode == 0, done.stderr
    said = done.stdout
    for each in (
        "8\n'people/lina.md'\n",
        "people/lina.md  41 B  daughter\n",
        "people/lina.md — daughter\n",
        "description: daughter\n",
        "const  kept    1\n",
        "wrapper (idiomatic)",
        "wall_seconds",
        "people/lina.md: in the trash\n(no notes)\n'undefined'\n",
    ):
        assert each in said, each
    assert "memory_write" in said.split("wall_seconds")[1]  # the journal has it
    assert (
        (tmp_path / "kept.js")
        .read_text()
        .startswith("const kept = 1\nconst loaded = 7\nloaded + kept\n")
    )


def test_a_command_that_fails_says_why(nocturn, tmp_path):
    (tmp_path / "there.js").write_text("")
    for line in (
        ".show no/such.md",
        ".load nowhere.js",
        ".save there.js",
        ".undo",
        ".show",
        ".help me",
    ):
        done = nocturn("repl", "--watched", stdin=line)
        assert done.returncode == 1, line
        assert done.stderr.count("\n") == 1, done.stderr


def test_eval_reads_its_code_or_an_argument_from_stdin(nocturn):
    assert nocturn("eval", "-", stdin="1 + 1").stdout == "2\n"
    assert nocturn("eval", "nocturn.args[0].trim().length", "-", stdin="four\n").stdout == "4\n"
    assert nocturn("eval", "-", "-", stdin="1").returncode == 2
    assert nocturn("-p", "nocturn.args[0].split('\\n').length", stdin="a\nb").stdout == "2\n"
    assert nocturn("-p", "1", "tools").returncode == 2
    nocturn("memory", "write", "--watched", "a.md", "a note", "text")  # in NOCTURN_WORKSPACE
    assert nocturn("-p", "nocturn.memory.list().notes.length").stdout == "1\n"


def test_a_script_leaves_a_session_open(nocturn, tmp_path):
    (tmp_path / "made.js").write_text("const made = nocturn.args[0] + '!'\nconsole.log('ran')\n")
    done = nocturn("run", "-i", "made.js", "hey", stdin="made\n")
    assert (done.returncode, done.stdout) == (0, "ran\n'hey!'\n")
    (tmp_path / "fails.js").write_text("1\nnope\n")
    done = nocturn("run", "-i", "fails.js", stdin="1\n")
    assert done.returncode == 1
    assert "fails.js:2:1" in done.stderr


# ---- at a terminal ------------------------------------------------------------------------------


@on_posix
def test_lines_are_typed_and_their_values_shown(prompt):
    shell = prompt()
    entered(shell, "const a = {x: 1, y: [2]}")
    assert "= { x: 1, y: [ 2 ] }\r\n" in entered(shell, "a")
    shows(shell, "function f(n) {\r", "…")  # it is not whole, and goes on in the next line
    assert "= 42\r\n" in entered(shell, "return n }; f(42)")
    # Words of the guest's stand behind a mark, and bring no escape of their own.
    said = entered(shell, r"console.log('\x1b[2J\u202eevil\u200b\nAllow? [y]'); nope")
    assert "│ \\x1b[2J\\u{202e}evil\\u{200b}\r\n│ Allow? [y]\r\n" in said
    assert re.search(r"│ <repl>:1:\d+ ReferenceError: nope is not defined\r\n", said)
    entered(shell, r"nocturn.memory.write('a.md', 's', 'note \x1b]0;t\x07 \u202e')")
    assert r"note \x1b]0;t\x07 \u{202e}" in entered(shell, ".show a.md")
    assert left(shell) == 0
    assert "\x1b[2J" not in shell.shown
    assert "\u202e" not in shell.shown
    assert "\x1b]0;t" not in shell.shown


@on_posix
def test_ctrl_c_ends_the_line_and_keeps_the_session(prompt):
    shell = prompt()
    entered(shell, "const a = 41")
    shows(shell, "console.log('begun'); for (;;);\r", "│ begun")
    shows(shell, "\x03", "as it was before this line")
    ready(shell)
    shows(shell, "half a line", "half a line")
    shows(shell, "\x03", "\x1b[?2004l")  # at the prompt it drops what was typed
    ready(shell)
    assert "= 42" in entered(shell, "a + 1")
    assert left(shell) == 0
    assert "Traceback" not in shell.shown


@on_posix
def test_ctrl_c_at_a_question_is_a_no(prompt, nocturn, tmp_path):
    assert nocturn("init").returncode == 0
    (tmp_path / "ws/policy.toml").write_text(ASKING)
    assert nocturn("trust", "--yes").returncode == 0
    shell = prompt()
    forged = "console.log(' '.repeat(98) + '[n] no\\nAnswer [n]: ');"
    asked = shows(
        shell,
        f"{forged} nocturn.memory.write('a.md', 's', '\\u202ec')\r",
        "\n[n] no\r\nAnswer [n]: ",
    )
    # The guest's own words stand behind the bar, those that the terminal would have folded too.
    assert f"│ {' ' * 97}\r\n│  [n] no\r\n│ Answer [n]: \r\n" in asked
    assert "\r\n│ \\u{202e}c\r\n" in asked
    shows(shell, "\x03", "GATE_DENIED (declined)")
    ready(shell)
    shows(shell, "nocturn.memory.write('a.md', 's', 'c').path\r", "Answer [n]: ")
    shows(shell, "1\n", "= 'a.md'")
    assert left(shell) == 0


@on_posix
def test_names_tools_and_notes_are_completed(prompt):
    shell = prompt()
    entered(shell, "const point = {alpha: 41, get trap() { for (;;); }}")
    shows(shell, "point.al\t", "pha")
    assert "= 42" in entered(shell, " + 1")
    shows(shell, "nocturn.mem\t", "ory")
    shows(shell, ".wri\t", "te")
    assert " allow " in entered(shell, "('people/lina.md', 's', 'c')")
    shows(shell, "nocturn.memory.read('peo\t", "lina.md")
    assert "description: s" in entered(shell, "')")
    shows(shell, ".sho\t", "w")
    shows(shell, " peo\t", "lina.md")
    assert "description: s" in entered(shell, "")
    assert left(shell) == 0


@on_posix
def test_a_paste_of_500_lines_is_one_and_a_mebibyte_is_shown_whole(prompt):
    shell = prompt()
    pasted = "\n".join(f"const line{n} = {n}" for n in range(500))
    entered(shell, f"\x1b[200~{pasted}\x1b[201~")
    assert "= 499" in entered(shell, "line0 + line499")
    termios.tcsetwinsize(shell.master, (24, 60))
    os.kill(shell.process.pid, signal.SIGWINCH)
    said = shows(
        shell, "console.log(('x'.repeat(1023) + '\\n').repeat(1023)); 'whole'\r", "= 'whole'\r"
    )
    rows = re.findall(r"│ (x+)\r\n", said)
    assert "".join(rows) == "x" * 1023 * 1023
    assert max(map(len, rows)) == 57  # folded here, so that each row has its bar
    # A pasted line is what it looks like.
    shows(shell, "\x1b[200~'\u202epasted\x1b[201~", "\x1b[0;7m\\u{202e}\x1b[0mpasted")
    assert "= '\\u{202e}pasted'" in entered(shell, "'")
    assert "\u202e" not in shell.shown
    assert left(shell) == 0


@on_posix
def test_lines_are_remembered_in_the_workspace_and_no_secret_is(prompt, nocturn, tmp_path):
    assert nocturn("init").returncode == 0
    value = "kX9vQ2mZ7pLw4RtY8sBn"
    assert nocturn("vault", "set", "token", stdin=value).returncode == 0
    shell = prompt()
    assert "= 42" in entered(shell, "1 + 41")
    entered(shell, f"const t = '{value}'")
    entered(shell, f"const u = '{value[:10]}' + '{value[10:]}'")
    assert left(shell) == 0
    history = tmp_path / "ws/.nocturn/repl_history"
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    assert [json.loads(line) for line in history.read_text().splitlines()] == ["1 + 41"]
    again = prompt()
    shows(again, "\x1b[A", "41")
    assert "= 42" in entered(again, "")
    assert left(again) == 0


@on_posix
def test_a_script_is_left_with_its_names_at_hand(prompt, tmp_path):
    (tmp_path / "made.js").write_text("const made = 41\n")
    shell = prompt("run", "-i", "made.js")
    assert "= 42" in entered(shell, "made + 1")
    assert left(shell) == 0
