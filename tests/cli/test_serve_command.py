"""``nocturn serve`` through the real command line; what it serves is tested in ``tests/web/``."""

import re
import signal
import socket

import pytest


@pytest.fixture
def serving(start):
    def serve(*words):
        process = start("serve", *words)
        link = re.fullmatch(
            r"sign in: (http://(.+):(\d+)/#in=[\w-]{40,})\n", process.stdout.readline()
        )
        return process, link

    return serve


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_it_shows_a_link_listens_here_only_and_ends_when_it_is_told_to(serving, tmp_path, ending):
    process, link = serving()
    assert link[2] == "127.0.0.1"
    with socket.create_connection((link[2], int(link[3])), 10):
        pass
    process.send_signal(ending)
    _, said = process.communicate()
    assert said == ""
    assert process.returncode == (0 if ending == signal.SIGINT else -signal.SIGTERM)
    assert not (tmp_path / "ws").exists(), "looking makes nothing"


def test_another_address_is_warned_of(serving):
    process, link = serving("--host", "0.0.0.0")
    assert link[2] != "0.0.0.0"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert "not encrypted" in said


def test_a_place_where_nothing_can_listen_is_configuration(nocturn):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = nocturn("serve", "--port", port)
    assert done.returncode == 2
    assert str(port) in done.stderr
    assert nocturn("serve", "--host", "no.such.name.invalid").returncode == 2
    assert nocturn("serve", "--port", "65536").returncode == 2
