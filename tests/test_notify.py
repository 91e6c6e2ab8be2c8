"""A person is told that a question waits; nothing of it is told, and no failure ends it."""

from __future__ import annotations

import json
import logging
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from nocturn.notify import notify

# Apprise imports imghdr where Python still has it.
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")

SECRET = "T0kEn-of-the-address"


class Listener(HTTPServer):
    """A web server on the loopback that answers with one status and keeps what it was sent."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = 200
        self.location = ""
        self.bodies = []
        self.url = f"http://127.0.0.1:{self.server_port}/{SECRET}"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.bodies.append((self.path, body))
        self.send_response(self.server.status)
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.end_headers()

    def log_message(self, *_):
        """Says nothing."""


@pytest.fixture
def listen():
    made = []

    def begin():
        made.append(Listener())
        threading.Thread(target=made[-1].serve_forever, args=(0.01,)).start()
        return made[-1]

    yield begin
    for each in made:
        each.shutdown()
        each.server_close()


@pytest.fixture
def told(monkeypatch, caplog):
    """Tells these addresses of a question and returns what was logged when all is done."""

    def tell(*addresses, waiting=2):
        monkeypatch.setenv("NOCTURN_NOTIFY", "  ".join(addresses))
        with caplog.at_level(logging.WARNING):
            notify("0123456789abcdef", waiting)
            for thread in threading.enumerate():
                if thread.name == "nocturn-notify":
                    thread.join()
        assert SECRET not in caplog.text
        return [record.getMessage() for record in caplog.records]

    return tell


def test_without_an_address_the_log_alone_says_what_to_do(told):
    assert told() == ["2 questions wait for an answer: nocturn approvals show 0123456789abcdef"]
    assert told(waiting=1)[-1].startswith("1 question waits")


def test_a_webhook_gets_the_command_and_the_count_and_nothing_else(told, listen):
    listener = listen()
    assert len(told(listener.url)) == 1
    ((path, body),) = listener.bodies
    assert path == f"/{SECRET}"
    assert json.loads(body) == {
        "id": "0123456789abcdef",
        "waiting": 2,
        "text": "nocturn: 2 questions wait: nocturn approvals show 0123456789abcdef",
    }


def test_a_redirection_is_not_followed(told, listen):
    listener, elsewhere = listen(), listen()
    listener.status, listener.location = 307, elsewhere.url
    assert "307" in told(listener.url)[-1]
    listener.status = 302
    assert "302" in told(listener.url)[-1]
    assert elsewhere.bodies == []


def test_a_failure_is_a_warning_that_does_not_name_the_address(told, listen):
    listener = listen()
    listener.status = 500
    listener.server_close()
    addresses = (
        listener.url,
        f"http://[{SECRET}",
        f"file:///{SECRET}",
        f"nosuchscheme://{SECRET}",
        f"{SECRET}-alone",
        f"json://127.0.0.1:{listener.server_port}/{SECRET}",
    )
    said = told(*addresses)
    assert len(said) == 1 + len(addresses)
    assert not any("Deprecation" in each for each in said)


def test_apprise_tells_by_its_own_schemes(told, listen):
    pytest.importorskip("apprise")
    listener = listen()
    address = f"json://127.0.0.1:{listener.server_port}/{SECRET}"
    assert len(told(address)) == 1
    ((_, body),) = listener.bodies
    assert "nocturn approvals show 0123456789abcdef" in json.loads(body)["message"]


def test_without_apprise_the_warning_says_what_to_install(told, monkeypatch):
    monkeypatch.setitem(sys.modules, "apprise", None)
    assert "nocturn[notify]" in told(f"ntfy://{SECRET}")[-1]


def test_what_is_told_of_a_run_holds_nothing_of_its_question(
    nocturn_workspace, listen, monkeypatch
):
    listener = listen()
    monkeypatch.setenv("NOCTURN_NOTIFY", listener.url)
    ws = nocturn_workspace(ask_seconds=1.0)
    ws.run(
        "nocturn.memory.write('people/lina.md', 'a daughter', 'cats')", mode="guarded", agent="bob"
    )
    for thread in threading.enumerate():
        if thread.name == "nocturn-notify":
            thread.join()
    ((_, body),) = listener.bodies
    for word in (b"lina", b"people", b"daughter", b"cats", b"bob", b"memory"):
        assert word not in body
