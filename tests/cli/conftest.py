"""Real processes: the command line without a terminal, and with one."""

import codecs
import io
import os
import pty
import select
import subprocess
import sys
import termios
from dataclasses import dataclass, field

import pytest

COMMAND = [sys.executable, "-c", "from nocturn.cli.main import main; main()"]
# Not preexec_fn: there are threads here. The new session makes stdin its controlling terminal.
LOGIN = "import os, sys; os.login_tty(0); os.execv(sys.argv[1], sys.argv[1:])"
AT_A_TERMINAL = [sys.executable, "-I", "-S", "-c", LOGIN]
SECONDS = 60


@pytest.fixture
def environment(tmp_path):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("NOCTURN")}
    return kept | {
        "NOCTURN_DATA": str(tmp_path / "data"),
        "NOCTURN_WORKSPACE": str(tmp_path / "ws"),
    }


@pytest.fixture
def nocturn(tmp_path, environment):
    """Runs one command without a terminal and returns the ended process, its output as text."""

    def run(*words, stdin="", **more):
        given = stdin if isinstance(stdin, bytes) else stdin.encode()
        done = subprocess.run(
            [*COMMAND, *map(str, words)],
            input=given,
            capture_output=True,
            cwd=tmp_path,
            env=environment | more,
            check=False,
            timeout=SECONDS,
        )
        done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return run


@pytest.fixture
def nocturn_here(tmp_path, environment, monkeypatch, capsys):
    """Runs one command in this process, which is quicker, where nothing of a process is shown."""
    from nocturn.cli.main import main

    def run(*words, stdin="", **more):
        given = stdin if isinstance(stdin, bytes) else stdin.encode()
        with monkeypatch.context() as patch:
            patch.chdir(tmp_path)
            for name in ("NOCTURN_DATA", "NOCTURN_WORKSPACE"):
                patch.setenv(name, environment[name])
            for name, value in more.items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["nocturn", *map(str, words)])
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given), "utf-8"))
            with pytest.raises(SystemExit) as ended:
                main()
        out, err = capsys.readouterr()
        assert "Traceback" not in err, err
        return subprocess.CompletedProcess(words, ended.value.code, out, err)

    return run


@pytest.fixture
def start(tmp_path, environment):
    """Starts one command in a process group of its own, and ends it if the test does not."""
    started = []

    def begin(*words):
        process = subprocess.Popen(
            [*COMMAND, *map(str, words)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env=environment,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


@dataclass
class Terminal:
    """A process whose stdin, stdout and stderr are a terminal, which is its controlling one."""

    process: subprocess.Popen
    master: int
    shown: str = ""
    decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace")
    )

    def wait_for(self, text):
        """Reads until the terminal has shown ``text``; returns everything that it has shown."""
        while text not in self.shown:
            assert self._read(), f"the terminal was closed; it has shown: {self.shown!r}"
        return self.shown

    def type(self, text):
        os.write(self.master, text.encode())

    def end(self):
        """Reads until the process has ended; returns its exit status."""
        while self._read():
            pass
        return self.process.wait(SECONDS)

    def _read(self):
        assert select.select([self.master], [], [], SECONDS)[0], f"silence after: {self.shown!r}"
        try:
            data = os.read(self.master, 65_536)
        except OSError:  # Linux says so when the last other end is closed
            return False
        self.shown += self.decoder.decode(data)
        return bool(data)


@pytest.fixture
def terminal(tmp_path, environment):
    """Starts a command at a terminal of its own."""
    started = []

    def begin(*command, cwd=tmp_path):
        master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (40, 100))
        process = subprocess.Popen(
            [*AT_A_TERMINAL, *map(str, command)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=cwd,
            env=environment | {"TERM": "xterm"},
        )
        os.close(slave)
        started.append(Terminal(process, master))
        return started[-1]

    yield begin
    for each in started:
        each.process.kill()
        each.process.wait()
        os.close(each.master)


@pytest.fixture
def command():
    return COMMAND
