"""What the web platform has and the engine does not: texts, addresses, clones, random bytes, Buffer."""

# ruff: noqa: E501 - lines of JavaScript

import io
import json
import tarfile
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from nocturn import Limits

HERE = Path(__file__).parent
LIMITS = Limits(wall_seconds=30)
PARTS = [
    "href",
    "origin",
    "protocol",
    "username",
    "password",
    "host",
    "hostname",
    "port",
    "pathname",
    "search",
    "hash",
]


def value(result):
    assert result.status == "ok", result.error
    return result.value


def test_all_of_it_answers_as_node_answers(ws, node):
    _, theirs = node("web_rows.js")
    assert value(ws.run((HERE / "web_rows.js").read_text(), limits=LIMITS)) == theirs


URL_TESTS = "https://registry.npmjs.org/@wordpress/url/-/url-4.56.0.tgz"
DATA = "package/src/test/fixtures/wpt-data.json"
EXCEPTIONS = {}
"""Addresses of the standard's test data that are taken or refused against it; there are none."""


def test_the_test_data_of_the_url_standard_passes(ws):
    try:
        with urllib.request.urlopen(URL_TESTS, timeout=20) as answer:
            archive = answer.read()
    except (urllib.error.URLError, TimeoutError) as problem:
        pytest.skip(f"the standard's test data could not be fetched: {problem}")
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        rows = json.load(files.extractfile(DATA))
    assert len(rows) > 300
    source = (
        f"const rows = {json.dumps([row['input'] for row in rows])}, parts = {json.dumps(PARTS)};"
        "rows.map((row) => { try { const url = new URL(row); return [parts.map((part) => url[part]), String(new URL(url.href)) === url.href] }"
        " catch (e) { return e instanceof TypeError ? null : String(e) } })"
    )
    wrong = {}
    for row, told in zip(rows, value(ws.run(source, limits=LIMITS)), strict=True):
        # What is taken is told the same a second time; the data has no more than yes and no.
        right = told is None if row.get("failure") else type(told) is list and told[1]
        if not right:
            wrong[row["input"]] = told
    assert wrong == EXCEPTIONS


def test_latin1_is_windows_1252_as_the_standard_says(ws):
    told = value(
        ws.run("new TextDecoder('latin1').decode(Uint8Array.from({length: 256}, (_, i) => i))")
    )
    undefined = {0x81, 0x8D, 0x8F, 0x90, 0x9D}
    assert [ord(each) for each in told] == [
        code if code in undefined else ord(bytes([code]).decode("cp1252")) for code in range(256)
    ]


def test_random_bytes_are_the_systems_in_each_run_anew(ws):
    source = "[crypto.randomUUID(), Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('hex')]"
    told = [each for _ in range(8) for each in value(ws.run(source))]
    assert len(set(told)) == 16


def test_random_bytes_are_asked_for_in_a_sensible_number(ws):
    result = ws.run(
        """
        const out = [];
        for (const lie of ["x", NaN, -1, 1e308, {}]) {
          const array = new Uint8Array(4);
          Object.defineProperty(array, "byteLength", {value: lie});
          Object.defineProperty(array, "length", {value: lie});
          try { crypto.getRandomValues(array); out.push(0) } catch (e) { out.push(e.name) }
        }
        out
        """
    )
    assert result.status == "ok"


def test_what_is_untouched_is_not_there_and_what_is_set_first_stays(ws):
    source = """
    const names = ["TextEncoder", "TextDecoder", "Buffer", "URL", "URLSearchParams", "structuredClone", "crypto"];
    const lazy = names.filter((name) => Object.getOwnPropertyDescriptor(globalThis, name).get !== undefined);
    void URL;
    const touched = Object.getOwnPropertyDescriptor(globalThis, "URL");
    globalThis.Buffer = 5;
    [lazy.length, typeof touched.value, touched.enumerable, Buffer, typeof TextDecoder, typeof crypto.randomUUID]
    """
    assert value(ws.run(source)) == [7, "function", False, 5, "function", "function"]
    assert value(
        ws.run(
            "var URL = 1; function Buffer() { return 2 } const crypto = 3; [URL, Buffer(), crypto]"
        )
    ) == [1, 2, 3]


def test_a_guest_that_breaks_the_language_first_harms_itself_alone(ws):
    result = ws.run(
        """
        Array.prototype[Symbol.iterator] = String.prototype.split = Object.defineProperty = () => { throw new Error("broken") };
        const out = [];
        for (const name of {__proto__: null, length: 0, [Symbol.iterator]: function* () { yield "URL"; yield "Buffer"; yield "crypto" }})
          try { out[out.length] = typeof globalThis[name] } catch (e) { out[out.length] = e.message }
        out
        """
    )
    assert result.status == "ok"
    assert ws.run("new URL('http://h').href").value == "http://h/"


def test_an_address_too_long_to_be_one_is_refused(ws):
    told = value(
        ws.run(
            "[URL.canParse('http://h/' + 'x'.repeat(2e6)), URL.canParse('http://h/' + 'x'.repeat(1e5))]"
        )
    )
    assert told == [False, True]


@pytest.mark.parametrize("name", ["require", "process", "fetch", "Intl", "window"])
def test_a_name_of_another_place_is_missed_with_a_word_of_what_is_here(ws, name):
    error = ws.run(f"{name}.x").error
    assert error.name == "ReferenceError"
    assert "is not defined; " in error.message
