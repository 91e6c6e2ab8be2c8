"""The contract's table of exit statuses, each with its case."""

import signal
import sys

import pytest

from nocturn import IsolationError
from nocturn.cli import codes, main
from nocturn.host.result import STATUSES, RunError, RunResult


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (0, ["eval", "1"]),
        (1, ["eval", "throw new Error('x')"]),
        (1, ["eval", "new Promise(() => {})"]),
        (1, ["eval", "nocturn.memory.read('no.md')"]),
        (2, ["eval"]),
        (2, ["eval", "1", "--no-such-option"]),
        (2, ["no-such-command"]),
        (2, ["run", "no-such-file.js"]),
        (2, ["eval", "--timeout", "0", "1"]),
        (2, ["eval", "--memory", "lots", "1"]),
        (2, ["eval", "--agent", "a b", "1"]),
        (2, ["eval", "--isolation", "none", "1"]),
        (2, ["eval", "--secret-env", "NO_SUCH_VARIABLE", "1"]),
        (3, ["eval", "nocturn.memory.write('a.md', 's', 'c')"]),
        (3, ["eval", "nocturn.memory.read('../a.md')"]),
        (3, ["eval", "--secret-env", "A_SECRET", "nocturn.memory.read('hunter2-hunter2.md')"]),
        (3, ["memory", "show", "../a.md"]),
        (3, ["memory", "write", "a.md", "s", "c"]),
        (1, ["memory", "show", "a.md"]),
        (1, ["memory", "write", "--watched", "a.txt", "s", "c"]),
        (4, ["eval", "--memory", "16M", "let a=[];for(;;)a.push(new Array(1e3).fill(7))"]),
        (4, ["eval", "'x'.repeat(2e6)"]),
        (124, ["eval", "--timeout", "0.3", "for(;;);"]),
    ],
)
def test_an_ending_has_its_status_and_says_why_on_stderr(nocturn, tmp_path, status, words):
    done = nocturn(*words, A_SECRET="hunter2-hunter2")
    assert done.returncode == status, done.stderr
    assert bool(done.stderr) == (status != 0)
    assert done.stdout == ("1\n" if status == 0 else "")
    assert not (tmp_path / "ws").exists()


def test_a_refusal_that_the_script_catches_is_no_failure(nocturn):
    done = nocturn("eval", "try { nocturn.memory.write('a.md', 's', 'c') } catch (e) { e.code }")
    assert (done.returncode, done.stdout) == (0, "GATE_DENIED\n")


@pytest.mark.parametrize("name", ["policy.toml", "grants.json"])
def test_a_broken_file_of_ours_is_2(nocturn, tmp_path, name):
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / name).write_text("broken")
    done = nocturn("eval", "--watched", "nocturn.memory.write('a.md', 's', 'c')")
    assert done.returncode == 2
    assert name in done.stderr
    assert (tmp_path / "ws" / name).read_text() == "broken"


def test_a_source_that_is_not_utf8_or_too_large_is_2(nocturn, tmp_path):
    (tmp_path / "latin.js").write_bytes(b"'\xe9'")
    assert nocturn("run", "latin.js").returncode == 2
    assert nocturn("run", "-", stdin="/" * 1_048_577).returncode == 2


def test_a_workspace_that_is_a_file_is_2(nocturn, tmp_path):
    (tmp_path / "file").write_text("x")
    for words in (["eval", "1"], ["memory", "list"], ["tools"]):
        assert nocturn(*words, "--workspace", "file").returncode == 2


@pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX's")
def test_ctrl_c_is_130_and_keeps_what_was_printed(start):
    process = start("eval", "console.log('begun'); for (;;);")
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err


def test_ctrl_c_with_json_is_130_and_gives_the_result(start):
    process = start("eval", "--json", "--watched", "nocturn.now(); for (;;);")
    assert "time_now" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert '"status": "cancelled"' in out


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_of_a_run_has_an_exit_status(status):
    given = codes.of_result(RunResult(status=status))
    assert (
        given
        == {
            "ok": 0,
            "guest_error": 1,
            "never_settles": 1,
            "refused_source": 2,
            "memory_limit": 4,
            "output_limit": 4,
            "time_limit": 124,
            "worker_died": 125,
            "cancelled": 130,
        }[status]
    )


@pytest.mark.parametrize(
    ("code", "detail", "status"),
    [
        ("GATE_DENIED", {"reason": "declined"}, 3),
        ("GATE_DENIED", {"reason": "policy", "configuration": "policy.toml"}, 2),
        ("LEAK_BLOCKED", {}, 3),
        ("PATH_ESCAPE", {}, 3),
        ("NOT_FOUND", {}, 1),
        (None, {}, 1),
    ],
)
def test_an_uncaught_error_is_known_by_its_code(code, detail, status):
    error = RunError(code=code, name="NocturnError", message="m", detail=detail)
    assert codes.of_result(RunResult(status="guest_error", error=error)) == status


@pytest.mark.parametrize(
    ("fault", "status"),
    [(IsolationError("no seccomp"), 3), (ZeroDivisionError(), 125), (KeyboardInterrupt(), 130)],
)
def test_what_ends_the_command_itself_has_a_status_too(monkeypatch, capsys, fault, status):
    def broken(**_):
        raise fault

    monkeypatch.setattr(main, "_app", lambda _: broken)
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert ended.value.code == status
    assert "nocturn: " in capsys.readouterr().err
