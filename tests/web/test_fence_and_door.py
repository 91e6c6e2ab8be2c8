"""Who is let in, by parts: names and addresses, links and sessions."""

import asyncio
import threading

import pytest

from nocturn.web.door import Door
from nocturn.web.fence import Fence, address_of


def status_of(fence, host):
    """Sends one request through the fence; 200 is what is behind it."""
    told = []

    async def behind(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def keep(message):
        told.append(message)

    fence._app = behind
    scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", host.encode())]}
    asyncio.run(fence(scope, None, keep))
    return told[0]["status"]


@pytest.mark.parametrize(
    ("listens_at", "host", "status"),
    [
        ("127.0.0.1", "127.0.0.1:8000", 200),
        ("127.0.0.1", "192.168.1.5:8000", 421),
        ("0.0.0.0", "192.168.1.5:8000", 200),
        ("0.0.0.0", "[fe80::1]:8000", 200),
        ("0.0.0.0", "192.168.1.5.evil.example:8000", 421),
        ("0.0.0.0", "evil.example:8000", 421),
        ("::1", "[::1]:8000", 200),
        ("box.lan", "box.lan:8000", 200),
        ("box.lan", "BOX.LAN:8000", 200),
        ("box.lan", "other.lan:8000", 421),
        ("127.0.0.1", "127.0.0.1:٨٠٠٠", 421),
        ("127.0.0.1", "127.0.0.1:08000", 421),
        ("127.0.0.1", "user@127.0.0.1:8000", 421),
    ],
)
def test_only_an_own_name_or_an_address_leads_here(listens_at, host, status):
    assert status_of(Fence(None, listens_at, 8000), host) == status


def test_the_port_of_http_is_not_written():
    assert address_of("::1", 80) == "[::1]"
    assert address_of("127.0.0.1", 8000) == "127.0.0.1:8000"
    assert status_of(Fence(None, "127.0.0.1", 80), "127.0.0.1") == 200


def test_a_link_is_good_for_one_even_when_many_come_at_once():
    links = []
    door = Door(links.append)
    assert door.enter("") is None, "nobody comes in before it is open"
    door.open()
    given = []
    threads = [
        threading.Thread(target=lambda: given.append(door.enter(links[0]))) for _ in range(16)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    (session,) = (each for each in given if each)
    assert len(links) == 2
    assert door.is_inside(session)
    assert not door.is_inside(links[0])
    door.leave(session)
    assert not door.is_inside(session)
    assert door.enter("") is None
    assert door.enter(links[1]) != session
