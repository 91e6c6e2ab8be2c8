from __future__ import annotations

import base64
import bz2
import gzip
import hashlib
import random
import uuid
import zlib

import pytest

from nocturn.guard.opaque import opaque_in

CHANCE = random.Random(7)
NOISE = CHANCE.randbytes(300)
PROSE = ("Lina starts school in August, and Otto, who is older, is glad of it. " * 8).encode()
PNG = b"\x89PNG\r\n\x1a\n" + NOISE


def base64_of(data):
    return base64.b64encode(data).decode()


def folded(text, width=76, indent=""):
    return "\n".join(indent + text[at : at + width] for at in range(0, len(text), width))


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (base64_of(NOISE), "base64"),
        (base64.urlsafe_b64encode(NOISE).decode(), "base64"),
        (f"see: {base64_of(NOISE)} (end)", "base64"),
        (folded(base64_of(NOISE)), "base64"),
        (folded(base64_of(NOISE), 60, "> "), "base64"),
        (base64_of(zlib.compress(NOISE + PROSE)), "base64"),
        (base64_of(gzip.compress(PROSE)), "base64"),
        (base64_of(bz2.compress(PROSE)), "base64"),
        (base64_of(b"Salted__" + NOISE), "base64"),
        (NOISE.hex(), "hex"),
        (NOISE.hex().upper(), "hex"),
        (folded(NOISE.hex(), 64), "hex"),
        (base64.b85encode(NOISE).decode(), "base85"),
        (base64.a85encode(NOISE).decode(), "base85"),
        ("-----BEGIN PGP MESSAGE-----\n\nhQEMA\n-----END PGP MESSAGE-----", "encrypted"),
        (f"![x](data:image/png;base64,{base64_of(NOISE)})", "no-image"),
    ],
)
def test_what_nobody_can_read_is_pointed_out(text, rule):
    (blob,) = opaque_in(text)
    assert blob.rule == rule
    assert 0 <= blob.start < blob.end <= len(text)


@pytest.mark.parametrize("kind", [PNG, b"\xff\xd8\xff" + NOISE, b"RIFF\0\0\0\0WEBP" + NOISE])
def test_an_image_in_an_address_is_called_an_image(kind):
    (blob,) = opaque_in(f"![me](data:image/x-any;base64,{base64_of(kind)})")
    assert blob.rule == "image"
    assert blob.what.startswith("an image, ")


@pytest.mark.parametrize(
    "text",
    [
        PROSE.decode(),
        base64_of(PROSE),
        PROSE.hex(),
        hashlib.sha512(b"x").hexdigest(),
        "commit " + hashlib.sha1(b"x").hexdigest(),
        f'"integrity": "sha512-{base64_of(hashlib.sha512(b"x").digest())}"',
        " ".join(str(uuid.UUID(int=at << 90)) for at in range(40)),
        "\n".join(hashlib.sha256(bytes([at])).hexdigest() + f"  file{at}.txt" for at in range(40)),
        "https://example.org/" + "a/long/path/with-Many-Parts/" * 12 + "?page=2&sort=name",
        "/usr/lib/python3/dist-packages/" + "module_with_a_long_name/" * 9,
        "x" * 500,
        "0" * 500,
        "-" * 300,
        "| --- " * 80,
        "functionNameOfAVeryLongKind" * 9,
        "for(var i=0;i<10;i++){console.log('item'+i);document.write(i)}" * 5,
        "ssh-rsa " + base64_of(b"\0\0\0\x07ssh-rsa" + NOISE) + " lina@example.org",
        "",
    ],
)
def test_what_can_be_read_or_is_a_mere_mark_is_not(text):
    assert opaque_in(text) == []


def test_the_number_of_what_is_told_is_bounded():
    assert len(opaque_in("\n\n".join(base64_of(CHANCE.randbytes(100)) for _ in range(80)))) == 50


def test_noise_of_every_length_is_seen():
    for size in range(90, 400, 7):
        assert opaque_in(base64_of(CHANCE.randbytes(size)))
        assert opaque_in(CHANCE.randbytes(size).hex())
