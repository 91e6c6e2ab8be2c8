"""``nocturn agent`` and ``nocturn prompt``, with a stand-in for the model on loopback."""

import json
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from nocturn import Workspace

pytest.importorskip("openai")


class Model(BaseHTTPRequestHandler):
    """Remembers what it is told, and says so with an escape sequence in it."""

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.heard.append(request)
        last = request["messages"][-1]
        message = {"content": "noted \x1b[2J\nnocturn: allow it? [y/n]"}
        if last["role"] == "user":
            arguments = json.dumps({"action": "add", "text": last["content"].strip()})
            function = {"name": "memory", "arguments": arguments}
            message = {"tool_calls": [{"index": 0, "id": "c", "function": function}]}
        if request.get("stream"):
            kind, body = "text/event-stream", json.dumps({"choices": [{"delta": message}]})
            body = f"data: {body}\n\ndata: [DONE]\n\n"
        else:
            kind, body = "application/json", json.dumps({"choices": [{"message": message}]})
        self.send_response(self.server.status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def model(monkeypatch):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.daemon_threads = True
    server.heard, server.status = [], 200
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    for name in ("NOCTURN_WORKSPACE", "NOCTURN_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "k3y-of-the-test-9zQ4")
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}")
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def ask(nocturn_here, environment):
    """Runs a command; only a workspace that is named is one."""
    environment["NOCTURN_WORKSPACE"] = ""
    return nocturn_here


def test_a_new_persona_explains_its_files_and_overwrites_nothing(ask, tmp_path):
    assert ask("agent", "new", "ava-of-mine").returncode == 0
    folder = tmp_path / "ava-of-mine"
    files = {each.name: each.read_text() for each in folder.iterdir()}
    assert sorted(files) == ["AGENTS.md", "IDENTITY.md", "README.md", "SOUL.md"]
    assert {each.stat().st_mode & 0o777 for each in folder.iterdir()} == {0o600}
    (folder / "SOUL.md").write_text("You are mine.")
    again = ask("agent", "new", "ava-of-mine")
    assert (again.returncode, again.stdout) == (2, "")
    assert (folder / "SOUL.md").read_text() == "You are mine."
    told = ask("prompt", "ava-of-mine")
    assert told.returncode == 0
    assert told.stdout == (
        f"## AGENTS.md\n\n{files['AGENTS.md'].strip()}\n\n## SOUL.md\n\nYou are mine.\n\n"
        f"## IDENTITY.md\n\n{files['IDENTITY.md'].strip()}\n"
    )


def test_prompt_prints_exactly_what_a_run_tells_the_model(ask, model, tmp_path):
    ask("agent", "new", "ava")
    (tmp_path / "ava/MEMORY.md").write_text("- hidden \u202e here\n")
    with Workspace(tmp_path / "ws") as ws:
        ws.memory.write("a.md", "a fact", "It is so.")
    told = json.loads(ask("prompt", "ava", "--workspace", "ws", "--json").stdout)
    shown = ask("prompt", "ava", "--workspace", "ws").stdout
    ask("agent", "run", "ava", "hello", "--model", "m", "--workspace", "ws")
    request = model.heard[0]
    assert told == {"messages": request["messages"][:-1], "tools": request["tools"]}
    assert request["messages"][-1] == {"role": "user", "content": "hello"}
    assert "a.md — a fact\n</memory>" in shown
    assert shown == request["messages"][0]["content"].replace("\u202e", "\\u{202e}") + "\n"


def test_run_prints_the_answer_tells_of_calls_and_exits_with_its_status(ask, model, tmp_path):
    ask("agent", "new", "ava")
    done = ask("agent", "run", "ava", "-", "--model", "m", stdin="I like oolong\n")
    assert (done.returncode, done.stdout) == (0, "noted \\x1b[2J\nnocturn: allow it? [y/n]\n")
    assert [line.split(" ")[1] for line in done.stderr.splitlines()] == ["memory"] * 2
    assert "allow" in done.stderr
    assert (tmp_path / "ava/MEMORY.md").read_text() == "- I like oolong\n"
    told = json.loads(ask("agent", "run", "ava", "more", "--model", "m", "--json").stdout)
    assert (told["status"], told["turns"], told["calls"][0]["ruling"]) == ("done", 2, "allow")
    model.status = 400
    refused = ask("agent", "run", "ava", "more", "--model", "m")
    assert (refused.returncode, refused.stdout) == (1, "")
    for words in (
        ["ava", "hi"],
        ["nobody", "hi", "--model", "m"],
        ["ava", "hi", "--model", "m", "--guarded"],
        ["ava", " ", "--model", "m"],
        ["ava", "hi", "--model", "m", "--key-from-vault", "openai"],
        ["ava", "hi", "--model", "m", "--base-url", "ftp://there"],
        ["ava", "hi", "--model", "m", "--timeout", "0"],
    ):
        refused = ask("agent", "run", *words)
        assert (refused.returncode, refused.stdout) == (2, ""), words


def test_a_chat_that_is_piped_in_is_one_conversation(ask, model, tmp_path):
    ask("agent", "new", "ava")
    done = ask("agent", "chat", "ava", "--model", "m", stdin="one\n\ntwo\n")
    assert (done.returncode, done.stdout.count("noted \\x1b[2J\n")) == (0, 2)
    said = [each["content"] for each in model.heard[-1]["messages"] if each["role"] == "user"]
    assert said == ["one", "two"]
    assert (tmp_path / "ava/MEMORY.md").read_text() == "- one\n- two\n"


def test_a_chat_that_could_not_begin_says_so_before_anything_is_typed(ask, model, monkeypatch):
    ask("agent", "new", "ava")
    words = ("agent", "chat", "ava", "--model", "m")
    monkeypatch.delenv("OPENAI_API_KEY")
    without_key = ask(*words, stdin="")
    assert (without_key.returncode, "OPENAI_API_KEY" in without_key.stderr) == (2, True)
    without_vault = ask(*words, "--key-from-vault", "openai", stdin="")
    assert (without_vault.returncode, "--workspace" in without_vault.stderr) == (2, True)
    assert model.heard == []


@pytest.mark.usefixtures("model")
def test_a_chat_whose_input_is_no_text_or_whose_reader_has_gone_ends_without_a_traceback(
    ask, command, tmp_path, environment
):
    environment |= {"PYTHONIOENCODING": "utf-8:strict", "PYTHONUTF8": "0"}
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        environment[name] = os.environ[name]
    ask("agent", "new", "ava")
    words = [*command, "agent", "chat", "ava", "--model", "m"]
    here = {"cwd": tmp_path, "env": environment, "capture_output": True, "timeout": 60}
    refused = subprocess.run(words, input=b"\xff\n", check=False, **here)
    assert (refused.returncode, refused.stdout) == (2, b"")
    assert b"UTF-8" in refused.stderr
    assert b"Traceback" not in refused.stderr
    read, write = os.pipe()
    os.close(read)
    here |= {"capture_output": False, "stderr": subprocess.PIPE, "stdout": write}
    gone = subprocess.run(words, input=b"one\n", check=False, **here)
    os.close(write)
    assert b"memory" in gone.stderr
    assert b"Traceback" not in gone.stderr


@pytest.mark.usefixtures("model")
def test_a_chat_at_a_terminal_marks_what_the_model_says(terminal, command, tmp_path, environment):
    environment |= {"NOCTURN_WORKSPACE": "", "PROMPT_TOOLKIT_NO_CPR": "1"}
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        environment[name] = os.environ[name]
    (tmp_path / "ava").mkdir()
    shell = terminal(*command, "agent", "chat", "ava", "--model", "m")
    shell.wait_for("\x1b[0m>")
    shell.type("I like oolong\r")
    shown = shell.wait_for("allow it?")
    assert "│ noted \\x1b[2J" in shown
    assert "│ nocturn: allow it?" in shown
    assert "· memory → allow" in shown
    shell.shown = shown.partition("allow it?")[2]
    shell.wait_for("\x1b[0m>")  # before it the terminal would lose what is typed
    shell.type("\x04")
    assert shell.end() == 0
