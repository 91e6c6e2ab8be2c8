"""`nocturn repl` and one-liners with something piped in: stdout, and the exit status, tell."""

import re

import pytest


def test_what_is_piped_in_runs_statement_by_statement(nocturn):
    given = "const a = 20\nfunction f(b) {\n  return a + b\n}\n\nf(1) * 2\nnocturn.now().timezone\n"
    done = nocturn("repl", stdin=given)
    assert done.returncode == 0
    assert re.fullmatch(r"42\n'.+'\n", done.stdout)
    assert re.fullmatch(r"· time_now ungated \d+ B \d+\.\d ms\n", done.stderr)


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ("1\nnope\nprint('never')", 1),
        ("nocturn.memory.write('a.md', 's', 'c')", 3),
        ("f(", 1),
        (b"'\xff'", 2),
        ("new Array(1e9).fill(1)\nprint('never')", 4),
        (".show no.md\nprint('never')", 1),
    ],
)
def test_the_exit_status_tells_of_the_first_that_failed(nocturn, given, status, tmp_path):
    done = nocturn("repl", stdin=given)
    assert done.returncode == status
    assert "never" not in done.stdout
    assert not (tmp_path / "ws").exists()


def test_a_script_that_leaves_its_session_to_a_pipe(nocturn, tmp_path):
    (tmp_path / "s.js").write_text("const a = nocturn.args[0]")
    assert nocturn("run", "-i", "s.js", "x", stdin="a + a").stdout == "'xx'\n"
    assert nocturn("run", "-i", "-").returncode == 2


def test_a_one_liner_reads_stdin_as_its_code_or_as_an_argument(nocturn):
    assert nocturn("eval", "-", "x", stdin="nocturn.args[0] + 1").stdout == "x1\n"
    assert nocturn("eval", "nocturn.args[1].length", "a", "-", stdin="four").stdout == "4\n"
    assert nocturn("eval", "-", "-").returncode == 2
