"""The journal forgets a note or a value for good, and the chain shows that it did."""

from __future__ import annotations

import json

import pytest

from nocturn.store.chain import NOTHING
from nocturn.store.journal import JournalFile
from nocturn.store.purging import FOR_EVER, Doomed

VALUE = "kJ8-very-secret-71"
STRUCK = Doomed(strike=lambda text: text.replace(VALUE, "[REDACTED]"))
LINA = Doomed(names={"people/lina.md": FOR_EVER, "é.md": 7})


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "ws" / ".nocturn"


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def journal(folder, data):
    journal = JournalFile(folder, data)
    told(journal, "people/lina.md", "a.md", "é.md", f"{VALUE}.md", "people/lina.md", "b.md")
    return journal


def told(journal, *targets, **more):
    for target in targets:
        effects = [{"kind": "memory", "verb": "write", "target": target}]
        entry = {"at": "2026-01-01T00:00:00+00:00", "call": "c1", "tool": "t", "effects": effects}
        journal.append(entry | more, durable=True, content=b"text of " + target.encode())


def file_of(folder):
    return folder / "journal.jsonl"


def rows(folder):
    return [json.loads(each) for each in file_of(folder).read_bytes().splitlines()]


def raw(folder, data):
    files = [*folder.rglob("*"), *data.rglob("*")]
    return b"\n".join(each.read_bytes() + str(each).encode() for each in files if each.is_file())


def findings(journal):
    return [finding.what for finding in journal.trail.verify().findings]


def test_a_note_is_gone_from_every_line_with_the_hash_of_its_content_and_the_salt(
    journal, folder, data
):
    before = rows(folder)
    assert journal.purge(LINA) == 3
    everything = raw(folder, data)
    for name in (b"lina", b"\\u00e9", "é".encode()):
        assert name not in everything
    for at in (0, 2, 4):
        for gone in ("salt", "content"):
            assert before[at][gone].encode() not in everything
    assert [row["effects"][0]["target"] for row in rows(folder)[:6]] == [
        *("[PURGED]", "a.md", "[PURGED]", f"{VALUE}.md", "[PURGED]", "b.md"),
    ]


def test_the_chain_is_whole_afterwards_goes_on_and_counts_the_holes(journal, folder, data):
    journal.purge(LINA)
    told(journal, "c.md")
    verdict = JournalFile(folder, data).trail.verify()
    assert (verdict.whole, verdict.lines, verdict.purged) == (True, 8, 3)
    tombstone = rows(folder)[6]
    assert (tombstone["phase"], tombstone["what"]) == ("purge", "note")
    assert (tombstone["count"], tombstone["lines"]) == (3, [[1, 1], [3, 3], [5, 5]])
    journal.purge(Doomed(names={"c.md": FOR_EVER}))
    assert journal.purge(STRUCK) == 1
    verdict = journal.trail.verify()
    assert (verdict.whole, verdict.lines, verdict.purged) == (True, 10, 5)


def test_a_name_goes_from_every_field_and_another_notes_longer_path_stays(journal, folder, data):
    told(journal, "x/people/lina.md", tool="people/lina.md")
    with file_of(folder).open("ab") as file:
        file.write(b'{"by":"people/lina.md"}\n')
    journal.purge(LINA)
    assert raw(folder, data).count(b"people/lina.md") == 1
    assert rows(folder)[6]["tool"] == "[PURGED]"
    assert rows(folder)[6]["effects"][0]["target"] == "x/people/lina.md"


def test_a_value_is_struck_from_whatever_a_guest_could_choose(journal, folder, data):
    told(journal, "x.md", tool=f"tool-{VALUE}", agent=VALUE)
    assert journal.purge(STRUCK) == 2
    assert VALUE.encode() not in raw(folder, data)
    assert rows(folder)[3]["effects"][0]["target"] == "[REDACTED].md"
    assert (rows(folder)[6]["tool"], rows(folder)[6]["agent"]) == ("tool-[REDACTED]", "[REDACTED]")
    assert journal.trail.verify().whole


def test_the_hash_of_what_a_note_held_goes_with_the_value_and_its_name_stays(journal, folder):
    doomed = Doomed(strike=STRUCK.strike, held_by=frozenset({"a.md"}))
    assert journal.purge(doomed) == 2
    assert rows(folder)[1]["effects"][0]["target"] == "a.md"
    assert "content" not in rows(folder)[1]
    assert "content" in rows(folder)[5]


def test_a_hole_is_seen_that_no_purge_tells_of(journal, folder):
    journal.purge(LINA)
    kept = file_of(folder).read_bytes().splitlines(keepends=True)
    file_of(folder).write_bytes(b"".join(kept[:-1]))
    told(journal, "c.md")
    assert sum("no purge tells of it" in each for each in findings(journal)) == 3


def test_who_has_no_key_can_blank_nothing_unseen(journal, folder, tmp_path):
    whole = file_of(folder).read_bytes()
    journal.purge(LINA)
    holes = file_of(folder).read_bytes().splitlines(keepends=True)
    lines = whole.splitlines(keepends=True)
    changed = [
        lines[1].replace(b'"a.md"', b'"[PURGED]"'),
        lines[1].replace(b'"seal"', b'"was":"' + b"0" * 32 + b'","seal"'),
        holes[0],  # another line's hole
    ]
    for forged in changed:
        file_of(folder).write_bytes(b"".join([holes[0], forged, *holes[2:]]))
        assert not journal.trail.verify().whole
    thief = JournalFile(tmp_path / "theirs" / ".nocturn", tmp_path / "their-data")
    file = file_of(tmp_path / "theirs" / ".nocturn")
    file.parent.mkdir(parents=True)
    file.write_bytes(whole)
    thief.purge(LINA)
    assert not any("was" in row for row in rows(file.parent))  # only its own user makes holes


def test_a_line_that_is_put_back_is_seen(journal, folder):
    before = file_of(folder).read_bytes().splitlines(keepends=True)
    journal.purge(LINA)
    after = file_of(folder).read_bytes().splitlines(keepends=True)
    file_of(folder).write_bytes(b"".join([before[0], *after[1:]]))
    assert any("1 lines before it that are no holes" in each for each in findings(journal))
    assert journal.purge(LINA) == 1
    assert journal.trail.verify().whole


def test_a_purge_that_ends_after_its_tombstone_is_done_by_the_next(
    journal, folder, data, monkeypatch
):
    from nocturn.store.place import Place

    with monkeypatch.context() as broken:
        broken.setattr(Place, "replace_file", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            journal.purge(LINA)
    assert any("3 lines" in each for each in findings(journal))
    assert journal.purge(LINA) == 3
    assert journal.trail.verify().whole
    assert b"lina" not in raw(folder, data)


def test_who_follows_the_journal_goes_on_after_a_purge(journal):
    _, position = journal.trail.last(9, bool)
    journal.purge(LINA)
    _, position = journal.trail.since(position)
    told(journal, "next.md")
    (line,), _ = journal.trail.since(position)
    assert line.entry["effects"][0]["target"] == "next.md"


def test_it_goes_through_rotated_files_and_leaves_them_whole(folder, data):
    journal = JournalFile(folder, data, file_bytes=2_000, files=5)
    told(journal, *["people/lina.md", "a.md"] * 8)
    assert len([*folder.glob("journal-*.jsonl")]) >= 2
    journal.purge(LINA)
    assert b"lina" not in raw(folder, data)
    told(journal, *["b.md"] * 6)
    assert journal.trail.verify().whole


def test_lines_of_an_older_nocturn_torn_ones_and_foreign_ones_forget_too(folder, data, tmp_path):
    foreign = JournalFile(tmp_path / "theirs", tmp_path / "their-data")
    told(foreign, "people/lina.md")
    old = {"phase": "outcome", "effects": [{"verb": "write", "target": "people/lina.md"}]}
    folder.mkdir(parents=True)
    begin = [json.dumps(old).encode() + b"\n", *(tmp_path / "theirs").glob("journal.jsonl")]
    file_of(folder).write_bytes(begin[0] + begin[1].read_bytes() + b"[people/lina.md]\n")
    journal = JournalFile(folder, data)
    told(journal, "a.md")
    last = rows_of_whole(folder)[-1]
    with file_of(folder).open("ab") as file:
        file.write(f'{{"n":2,"prev":"{last["seal"]}","at":"x","target":"people/lina.m'.encode())
        file.write(b"d")
    problems = journal.trail.verify().problems
    assert journal.purge(LINA) == 4
    assert b"lina" not in raw(folder, data)
    assert journal.trail.verify().problems == problems
    told(journal, "b.md")
    assert journal.trail.verify().torn == 1


def rows_of_whole(folder):
    lines = file_of(folder).read_bytes().splitlines()
    return [json.loads(each) for each in lines if each.startswith(b"{")]


def test_an_older_line_without_a_salt_gives_up_the_call_id_that_nobody_can_guess(journal, folder):
    chain = journal._chain
    line, _ = chain.sealed({"call": "c9", "effects": [{"target": "people/lina.md"}]}, NOTHING)
    body = line.split(b',"salt"')[0]
    file_of(folder).write_bytes(body + f',"seal":"{chain._token(body)}"}}\n'.encode())
    (journal._data / journal.trail.known_in).unlink()
    assert journal.trail.verify().whole
    assert journal.purge(LINA) == 1
    assert journal.trail.verify().whole
    assert "call" not in rows(folder)[0]


def test_nothing_is_made_where_no_journal_is(folder, data, tmp_path):
    assert JournalFile(folder, data).purge(LINA) == 0
    assert not (tmp_path / "ws").exists()
