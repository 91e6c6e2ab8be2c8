from __future__ import annotations

import base64

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nocturn.guard.scanner import REDACTED, Scanner
from nocturn.guard.views import views
from nocturn.secret import Secret

# How long an example takes says how busy the machine is.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


class Vault:
    def __init__(self, value):
        self.value = value

    def secrets(self):
        return [Secret("S", self.value)]


def percent(data, text):
    # A percent sign that stays bare may form an escape with what follows: then it is another text.
    return "".join(
        "".join(f"%{byte:02X}" for byte in character.encode())
        if character == "%" or data.draw(st.booleans())
        else character
        for character in text
    )


def spread(data, text):
    gaps = st.text(" \n\t", max_size=2)
    return "".join(character + data.draw(gaps) for character in text)


def encoded(data, value):
    raw = value.encode()
    lead, tail = data.draw(st.binary(max_size=4)), data.draw(st.binary(max_size=4))
    form = data.draw(st.sampled_from(["plain", "percent", "base64", "urlsafe", "hex", "HEX"]))
    text = {
        "plain": value,
        "percent": percent(data, value),
        "base64": base64.b64encode(lead + raw + tail).decode(),
        "urlsafe": base64.urlsafe_b64encode(lead + raw + tail).decode().rstrip("="),
        "hex": raw.hex(),
        "HEX": raw.hex().upper(),
    }[form]
    if form != "percent" and data.draw(st.booleans()):
        text = spread(data, text)
    return text


# No brackets and no capitals, so that no value is part of the mark.
VALUES = st.text("abcdefghij0123456789-_+/%äöé가", min_size=4, max_size=40)
AROUND = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@PATIENT
@given(st.data(), VALUES, AROUND, AROUND)
def test_an_embedded_value_is_found_and_a_redacted_text_holds_none_of_it(
    data, value, before, behind
):
    scanner = Scanner([Vault(value)])
    text = f"{before} {encoded(data, value)} {behind}"
    assert scanner.finds(text)
    redacted = scanner.redact(text)
    assert not scanner.finds(redacted)
    assert REDACTED in redacted
    assert value not in redacted


@PATIENT
@given(VALUES, AROUND, AROUND, st.integers(min_value=1))
def test_a_value_cut_anywhere_is_found_across_two_texts(value, before, behind, cut):
    at = cut % (len(value) - 1) + 1
    texts = [f"{before} {value[:at]}", f"{value[at:]} {behind}"]
    assert Scanner([Vault(value)]).names_across(texts) == ("S",)


@PATIENT
@given(st.text(max_size=60))
def test_a_text_without_the_value_is_untouched(text):
    scanner = Scanner([Vault("0f" * 12)])
    assert scanner.redact(text) == text


@PATIENT
@given(st.text("a%é\u0301e4C39A \n가\u11a8", max_size=30))
def test_every_byte_of_every_view_came_from_somewhere_in_the_text(text):
    size = len(text.encode())
    for _, reading in views(text):
        for at in range(len(reading.data)):
            # None of what stands between two readings that are looked at as one.
            stretches = reading.stretches(at, at + 1)
            assert all(0 <= start < end <= size for start, end in stretches)
