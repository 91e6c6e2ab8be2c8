"""Forgetting for good: after it, no file of the workspace or of the data folder has it any more."""

from __future__ import annotations

import base64
import errno
import json
import os
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import pytest

from nocturn.errors import BAD_ARGUMENTS, NOT_FOUND, STORAGE, NocturnError
from nocturn.store.directory import Directory

VALUE = "kJ8$xQ2-zR7wLm4!pT"
PATH = "people/lina.md"


@pytest.fixture
def put(ws):
    """Writes a file into the workspace as a hand does, and reads it so that it is met."""
    (ws.path / ".nocturn").mkdir(0o700, parents=True)

    def put(path, text):
        file = ws.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        if path.startswith("memory/"):
            with suppress(NocturnError):
                ws.memory.stat(path.removeprefix("memory/"))

    return put


@pytest.fixture
def everything(ws, tmp_path):
    """Gives every byte of both folders, names included."""

    def read():
        found = [each for top in (ws.path, tmp_path / "data") for each in top.rglob("*")]
        names = [os.fsencode(each) for each in found]
        return b"\n".join([*names, *(each.read_bytes() for each in found if each.is_file())])

    return read


@pytest.fixture
def as_somebody_else(monkeypatch):
    """Closes a folder for whoever runs this, root too, who obeys no modes."""

    @contextmanager
    def closed(folder):
        real = Directory.names

        def names(self):
            if Path(self._path) == folder:
                raise PermissionError(errno.EACCES, "closed")
            return real(self)

        with monkeypatch.context() as patched:
            patched.setattr(Directory, "names", names)
            yield

    return closed


def asked(ws, target, text):
    """A question that nobody answered."""
    effects = [{"kind": "memory", "verb": "write", "target": target}]
    question = {"effects": effects, "options": [], "preview": {"after": text}}
    with ws.inbox.ask(question, 0.01) as waiting:
        waiting.wait(lambda: True)


def states_of(ws, path):
    return list(ws._stores.records._history.of(path))


def test_a_note_goes_with_its_whole_past_from_every_store(ws, put, everything):
    for body in ("Likes dinosaurs.", "Likes trains."):
        ws.memory.write(PATH, "daughter", body)
    ws.memory.remove(PATH)
    ws.memory.write(PATH, "daughter", "Likes birds.")
    put(f"memory/{PATH}", "---\ndescription: by hand\n---\nLikes stars.\n")
    ws.memory.write("people/ben.md", "son", "Likes boats.")
    asked(ws, PATH, "Likes clouds.")
    asked(ws, "people/ben.md", "Likes ships.")
    ws.permissions.grant("scribe", "write", PATH)
    ws.permissions.grant("scribe", "write", "people/ben.md")
    put(".nocturn/repl_history", f"1 + 1\nnocturn.memory.read('{PATH}')\n")
    for folder in ("memory/people/", ".nocturn/", ""):
        put(f"{folder}.nocturn-0123456789abcdef.tmp", "Likes a crash.")
    assert ws.memory.search("stars")
    assert "by hand" in ws.memory.catalog()

    done = ws.purge.note(PATH)

    left = everything()
    for gone in (b"lina", b"daughter", b"dinosaurs", b"trains", b"birds", b"stars", b"clouds"):
        assert gone not in left, gone
    assert b"a crash" not in left
    for kept in (b"ben.md", b"boats", b"ships", b"1 + 1"):
        assert kept in left, kept
    assert done.names == (PATH,)
    assert done.places.keys() == {
        "notes", "trash", "inbox", "grants", "repl history", "journal", "history",
    }  # fmt: skip
    assert ws.journal.verify().whole
    assert [each.target for each in ws.grants.load()] == ["people/ben.md"]
    assert ws.memory.read("people/ben.md").endswith("Likes boats.")
    assert len(states_of(ws, "people/ben.md")) == 1
    assert ws.memory.search("stars") == []
    assert ws.memory.catalog() == "people/ben.md — son"
    assert ws.purge.note(PATH).places == {}


def dresses(value):
    return {
        "plain": value,
        "base64": base64.b64encode(value.encode()).decode(),
        "hex": value.encode().hex(),
        "url": quote(value, safe=""),
        "split": value[:7] + "\n" + value[7:],
    }


def test_a_value_is_struck_from_every_store_however_it_is_dressed(ws, put, everything):
    for name, text in dresses(VALUE).items():
        put(f"memory/{name}.md", f"---\ndescription: about {name}\n---\nit is {text} here\n")
    put("memory/old.md", f"was {VALUE}\n")
    put("memory/old.md", "was something\n")
    ws.memory.remove("old.md")
    put("memory/thrown.md", f"so {VALUE}")
    ws.memory.remove("thrown.md")
    put(f"memory/{VALUE}/{VALUE}.md", "named after it")
    put("memory/bytes.md", b"\xff\xfe " + VALUE.encode())
    put("persona/MEMORY.md", f"- it is {VALUE}\n- it is not\n")
    put(".nocturn/repl_history", f"token = '{VALUE}'\n1 + 1\n")
    put(".nocturn/.nocturn-0123456789abcdef.tmp", f"a crash {VALUE}")
    assert ws.memory.search("here")
    asked(ws, "a.md", f"the token is {VALUE}")
    ws.permissions.grant("scribe", "write", f"{VALUE}.md")
    ws.run(f"nocturn.call('tool-{VALUE}', {{}}).catch(() => 1)", agent=None)

    done = ws.purge.value(VALUE)

    left = everything()
    for name, text in dresses(VALUE).items():
        assert text.encode() not in left, name
    assert b"it is [REDACTED] here" in left
    assert b"- it is [REDACTED]\n- it is not\n" in left
    assert b"token = '[REDACTED]'\n1 + 1\n" in left
    assert (ws.path / "memory/[REDACTED]/[REDACTED].md").read_text() == "named after it"
    assert (
        ws.memory.read("plain.md") == "---\ndescription: about plain\n---\nit is [REDACTED] here\n"
    )
    assert done.places.keys() == {
        "notes", "trash", "persona", "inbox", "grants", "repl history", "journal", "history",
    }  # fmt: skip
    assert ws.journal.verify().whole
    assert ws.purge.value(VALUE).places == {}


def test_the_history_goes_on_from_what_a_value_was_struck_from(ws, put):
    put("memory/a.md", f"one {VALUE}")
    put("memory/a.md", f"two {VALUE}")
    ws.memory.write("a.md", "s", "three")
    before = states_of(ws, "a.md")
    ws.purge.value(VALUE)
    ws.memory.stat("a.md")
    after = states_of(ws, "a.md")
    assert [each.number for each in after] == [each.number for each in before]
    contents = [ws._stores.records._history.content(each.version) for each in after]
    assert contents[:2] == [b"one [REDACTED]", b"two [REDACTED]"]


def test_the_value_of_an_entry_stays_in_the_vault_and_nowhere_else(ws, put, everything):
    put("memory/a.md", f"it is {VALUE}")
    ws.vault.set("TOKEN", VALUE)
    ws.purge.entry("TOKEN")
    assert VALUE.encode() not in everything()
    assert [each.value for each in ws.vault.secrets()] == [VALUE]
    with pytest.raises(NocturnError) as refused:
        ws.purge.entry("OTHER")
    assert refused.value.code == NOT_FOUND


def test_a_question_that_waits_is_withdrawn_and_its_run_is_told_so(ws):
    effects = [{"kind": "memory", "verb": "write", "target": PATH}]
    question = {"effects": effects, "options": [{"value": "once"}]}
    ended = []
    with ws.inbox.ask(question, 60) as waiting:
        asker = threading.Thread(target=lambda: ended.append(waiting.wait(lambda: True)))
        asker.start()
        ws.purge.note(PATH)
        asker.join()
    assert ended[0].state == "withdrawn"
    assert ws.inbox.waiting() == []


@pytest.mark.parametrize("value", ["abc", "REDACTED", ""])
def test_what_would_be_found_everywhere_is_no_value_to_purge(ws, put, value):
    put("memory/a.md", "abc [REDACTED]")
    with pytest.raises(NocturnError) as refused:
        ws.purge.value(value)
    assert refused.value.code == BAD_ARGUMENTS
    assert (ws.path / "memory/a.md").read_text() == "abc [REDACTED]"


def test_a_store_that_cannot_be_purged_is_named_and_the_others_are_purged(ws, put, everything):
    ws.memory.write(PATH, "daughter", "Likes dinosaurs.")
    put("grants.json", json.dumps({"version": 2, "grants": []}))  # nobody's
    with pytest.raises(NocturnError) as refused:
        ws.purge.note(PATH)
    assert refused.value.code == STORAGE
    assert "grants" in refused.value.message
    assert b"lina" not in everything()


def test_what_no_purge_changes_is_named(ws, put):
    rule = f'[[rule]]\nkind = "memory"\ntarget = "{PATH}"\ndecision = "deny"\n'
    put("policy.toml", rule)
    put("memory/links.md", f"see [her]({PATH})")
    put(".nocturn/strange", f"{PATH} {VALUE}")
    assert set(ws.purge.note(PATH).left) == {
        *("policy.toml", ".nocturn/strange", "memory/links.md"),
    }
    assert ws.purge.value(VALUE).left == (".nocturn/strange",)
    assert (ws.path / "policy.toml").read_text() == rule


def test_a_folder_named_after_the_value_goes_too_even_if_it_is_empty(ws, everything):
    (ws.path / "memory" / VALUE / "inner").mkdir(parents=True)
    (ws.path / "memory/people/old").mkdir(parents=True)
    ws.purge.value(VALUE)
    assert VALUE.encode() not in everything()
    ws.purge.note("people/old/lina.md")
    assert not (ws.path / "memory/people").exists()


def test_every_file_belongs_to_a_store_of_the_list(ws, put):
    ws.permissions.set_up()
    ws.memory.write(PATH, "daughter", "Likes dinosaurs.")
    ws.memory.remove(PATH)
    put("memory/a.md", "by hand")
    put("persona/MEMORY.md", "- a\n")
    put(".nocturn/repl_history", "1 + 1\n")
    ws.vault.set("TOKEN", VALUE)
    ws.permissions.grant("scribe", "write", "a.md")
    asked(ws, "a.md", "x")
    ws.memory.catalog()
    ws.memory.search("hand")
    kept = ws._stores.kept()
    found = [each.relative_to(ws.path).as_posix() for each in ws.path.rglob("*") if each.is_file()]
    owners = {path: [each.name for each in kept if each.owns(path)] for path in found}
    assert {path: names for path, names in owners.items() if len(names) != 1} == {}
    assert {name for (name,) in owners.values()} >= {
        *("notes", "trash", "inbox", "grants", "journal", "history", "vault", "policy", "locks"),
    }


def test_what_has_become_a_secret_is_found_by_its_entrys_name_and_never_shown(ws, put):
    put("memory/a.md", f"one\ntwo {VALUE}\n")
    put("memory/a.md", "one\n")
    put("memory/b.md", "x" + base64.b64encode(VALUE.encode()).decode())
    put(f"memory/{VALUE}.md", "named after it")
    put("memory/gone.md", f"{VALUE}")
    ws.memory.remove("gone.md")
    assert list(ws.purge.rescan()) == []
    ws.vault.set("TOKEN", VALUE)
    found = list(ws.purge.rescan())
    assert VALUE not in repr(found)
    assert ws.memory.rescan() == [each.to_dict() for each in found]
    assert {each.secret for each in found} == {"TOKEN"}
    assert {(each.where, each.path, each.place, each.line) for each in found} == {
        ("note", "b.md", "text", 1),
        ("note", "[REDACTED].md", "name", None),
        ("trash", "gone.md", "text", 1),
        ("history", "a.md", "text", 2),
        ("history", "b.md", "text", 1),
        ("history", "[REDACTED].md", "name", None),
        ("history", "gone.md", "text", 1),
    }
    ws.purge.entry("TOKEN")
    assert list(ws.purge.rescan()) == []


def test_a_note_goes_under_each_name_that_it_had_and_other_notes_of_such_a_name_stay(
    ws, everything
):
    ws.memory.write("first.md", "s", "Likes dinosaurs.")
    ws.memory.remove("first.md")
    ws.memory.write("first.md", "s", "Likes trains.")
    ws.memory.move("first.md", "second.md")
    ws.memory.write("first.md", "another", "Likes nothing.")
    (ws.path / "persona").mkdir()
    (ws.path / "persona/third.md").write_text("is no note")
    ws.memory.move("second.md", "third.md")
    ws.permissions.grant("scribe", "write", "second.md")
    assert ws.purge.names_of("second.md") == ("first.md", "second.md", "third.md")
    done = ws.purge.note("second.md")  # an old name: it is called third.md now
    assert done.names == ("first.md", "second.md", "third.md")
    left = everything()
    for gone in (b"dinosaurs", b"trains", b"second", b"memory/third"):
        assert gone not in left, gone
    assert (ws.path / "persona/third.md").read_text() == "is no note"
    assert ws.memory.read("first.md").endswith("Likes nothing.")
    assert [each.verb for each in states_of(ws, "first.md")] == ["write"]
    assert ws.journal.verify().whole


def test_what_cannot_be_looked_at_ends_nothing_else_and_is_told(ws, put, as_somebody_else):
    put("memory/a.md", f"it is {VALUE}")
    put("memory/closed/b.md", "hidden")
    os.mkfifo(ws.path / "memory/pipe.md")
    ws.vault.set("TOKEN", VALUE)
    with as_somebody_else(ws.path / "memory/closed"):
        found = []
        with pytest.raises(NocturnError) as refused:
            found.extend(ws.purge.rescan())
        assert refused.value.code == STORAGE
        assert {each.path for each in found} == {"a.md"}
        with pytest.raises(NocturnError) as refused:
            ws.purge.value(VALUE)
        assert refused.value.code == STORAGE
        assert "closed" in refused.value.message
    assert (ws.path / "memory/a.md").read_text() == "it is [REDACTED]"
    assert ws.purge.value(VALUE).places == {}
