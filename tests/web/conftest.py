"""A real server in a process of its own, and runs that ask; one of each for a module."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from nocturn import Workspace

COMMAND = [sys.executable, "-c", "from nocturn.cli.main import main; main()"]
SECONDS = 60


class Served:
    """``nocturn serve`` of one workspace."""

    def __init__(self, folder):
        self.workspace = folder / "ws"
        self.data = folder / "data"
        self.process = None
        self.links = []

    def start(self):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("NOCTURN")}
        self.process = subprocess.Popen(
            [*COMMAND, "serve", "--workspace", self.workspace],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=kept | {"NOCTURN_DATA": str(self.data), "PYTHONUNBUFFERED": "1"},
        )
        self.links.clear()
        self.link()

    def link(self):
        """The link that was shown last."""
        line = self.process.stdout.readline()
        self.links.append(re.fullmatch(r"sign in: (http://127\.0\.0\.1:\d+/#in=[\w-]+)\n", line)[1])
        return self.links[-1]

    @property
    def address(self):
        return re.match(r"http://([^/]+)/", self.links[-1])[1]

    @property
    def origin(self):
        return f"http://{self.address}"

    def request(self, method, path, body=None, **headers):
        """Sends one request; returns its status, its headers and what its JSON says."""
        given = {"Host": self.address} | {k.replace("_", "-"): v for k, v in headers.items()}
        if method == "POST":
            given = {"Origin": self.origin, "Content-Type": "application/json"} | given
        connection = http.client.HTTPConnection(self.address, timeout=SECONDS)
        sent = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
        kept = {name: value for name, value in given.items() if value is not None}
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in kept.items():
            for each in value if isinstance(value, list) else [value]:
                connection.putheader(name, each)
        if sent is not None:
            connection.putheader("Content-Length", str(len(sent)))
        connection.endheaders(sent)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        told = json.loads(data) if "json" in answer.getheader("Content-Type", "") else data
        return answer.status, dict(answer.getheaders()), told

    def sign_in(self):
        """Uses the link up; returns the header that a session is."""
        token = self.links[-1].partition("#in=")[2]
        status, _, told = self.request("POST", "/api/login", {"token": token})
        assert status == 200, told
        self.link()
        return f"Bearer {told['session']}"

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, out, err


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    served = Served(tmp_path_factory.mktemp("served"))
    served.start()
    yield served
    status, _, err = served.stop()
    assert (status, err) == (0, "")


@pytest.fixture
def ws(served, monkeypatch):
    """The same workspace, from Python."""
    monkeypatch.setenv("NOCTURN_DATA", str(served.data))
    with Workspace(served.workspace) as ws:
        yield ws


@pytest.fixture
def asks(served, monkeypatch):
    """Runs a script in mode guarded, in a thread; its result is to come."""
    monkeypatch.setenv("NOCTURN_DATA", str(served.data))
    made = []
    with ThreadPoolExecutor(4) as threads:

        def run(source, *, agent="scribe", seconds=None):
            ws = Workspace(served.workspace, ask_seconds=seconds)
            made.append(ws)
            return threads.submit(ws.run, source, mode="guarded", agent=agent, filename="ask.js")

        yield run
        for each in made:
            each.close()


@pytest.fixture
def start(served):
    """Starts a command in the served workspace, in a process group of its own."""
    started = []

    def start(*words):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("NOCTURN")}
        process = subprocess.Popen(
            [*COMMAND, *map(str, words)],
            env=kept | {"NOCTURN_DATA": served.data, "NOCTURN_WORKSPACE": served.workspace},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for each in started:
        each.kill()
        each.communicate()


@pytest.fixture
def waiting(ws):
    """Waits until a question waits; returns it."""

    def wait():
        token = None
        while True:
            if (now := ws.inbox.changes()) != token and (found := ws.inbox.waiting()):
                return found[0]
            token = now

    return wait
