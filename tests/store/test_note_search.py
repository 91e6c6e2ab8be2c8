"""Search: what is found is true of the files as they are, and no secret is found by its pieces."""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
import time

import pytest

from nocturn.errors import PATH_ESCAPE, ConfigurationError, NocturnError
from nocturn.guard.scanner import Scanner
from nocturn.secret import Secret
from nocturn.store import indexing
from nocturn.store.search import NoteSearch
from nocturn.store.words import terms_of

LATER_NS = 3_600 * 1_000_000_000


class Vault:
    """The real scanner over values that a test changes."""

    def __init__(self):
        self.values = []
        self.scanner = Scanner([self])

    def secrets(self):
        return [Secret(f"N{at}", value) for at, value in enumerate(self.values)]

    def keep(self, *values):
        self.values = [*values]
        self.scanner.renew()

    def state(self):
        return self.scanner.state()

    def redact(self, text):
        return self.scanner.redact(text)

    def redact_all(self, texts):
        return self.scanner.redact_all(texts)


@pytest.fixture
def vault():
    return Vault()


@pytest.fixture
def outer(tmp_path):
    (tmp_path / ".nocturn").mkdir()
    return tmp_path / ".nocturn"


@pytest.fixture
def made(root, outer, vault, token):
    """Makes a search of its own, for which all files are old, unless it is told else."""

    def made(now_ns=lambda: time.time_ns() + LATER_NS, token=token):
        return NoteSearch(root, outer, vault, token, now_ns)

    return made


@pytest.fixture
def put(root):
    def put(path, text):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text if isinstance(text, bytes) else text.encode())
        return root / path

    return put


def found(search, query, limit=50):
    return [each.path for each in search.search(terms_of(query), limit)]


@pytest.fixture
def folds(monkeypatch):
    """The paths of the notes that were redacted and folded, to be emptied at will."""
    seen = []
    plain = indexing.note_of

    def note_of(path, *rest):
        seen.append(path)
        return plain(path, *rest)

    monkeypatch.setattr(indexing, "note_of", note_of)
    return seen


def test_notes_are_found_by_words_phrases_and_beginnings(made, put):
    put("people/lina.md", "---\ndescription: daughter, 7\n---\nLikes dinosaurs. Starts school.\n")
    put("pets.md", "# Pets\nA café cat that likes to start fights at school")
    put("東京.md", "私は東京タワーへ行った。")
    put("ko.md", "학교에서 공부했다")
    put("th.md", "ฉันไปกรุงเทพ")
    put("cut.txt", "dinosaurs")
    search = made()
    for query, paths in {
        "dinosaurs": ["people/lina.md"],
        "DINOSAUR*": ["people/lina.md"],
        "dinosaur": [],
        "likes school": ["people/lina.md", "pets.md"],
        '"starts school"': ["people/lina.md"],
        '"school starts"': [],
        "daughter lina": ["people/lina.md"],
        "cafe": ["pets.md"],
        "md": [],
        "東京": ["東京.md"],
        "京タ": ["東京.md"],
        "行": ["東京.md"],
        "京都": [],
        "학교": ["ko.md"],
        "กรุงเทพ": ["th.md"],
        "likes OR zebra": [],
        "likes NOT school": [],
    }.items():
        assert sorted(found(search, query)) == paths, query


def test_the_best_come_first_and_those_as_good_by_path(made, put):
    filler = "some other words that stand here " * 5
    for path, summary, last in (
        ("c.md", "s", "zebra"),
        ("b.md", "s", "zebra"),
        ("d.md", "zebra", ""),
        ("zebra.md", "s", ""),
        ("a.md", "s", ""),
    ):
        put(path, f"---\ndescription: {summary}\n---\n{filler}{last}")
    search = made()
    assert found(search, "zebra") == ["zebra.md", "d.md", "b.md", "c.md"]
    assert found(search, "zebra", limit=2) == ["zebra.md", "d.md"]


def test_a_hit_says_path_summary_and_where_it_stands(made, put):
    put("a.md", "---\ndescription: s\ntags: [needle]\n---\nfirst words\n\nand a needle\n")
    put("b.md", "---\ndescription: t\ntags: [needle]\n---\nfirst words\n")
    a, b = made().search(terms_of("needle"), 50)
    assert a.to_dict() == {"path": "a.md", "summary": "s", "snippet": "first words and a needle"}
    assert b.snippet == "first words"


@pytest.mark.parametrize("on_disk", [True, False])
def test_it_is_true_of_the_files_as_they_are(made, put, root, outer, folds, on_disk):
    if not on_disk:
        outer.rmdir()
    for name in "abc":
        put(f"{name}.md", f"apple {name}")
    search = made()
    assert found(search, "apple") == ["a.md", "b.md", "c.md"]
    folds.clear()
    assert found(search, "nothing") == []
    assert folds == []
    put("b.md", "pear")
    (root / "c.md").rename(root / "d.md")
    (root / "a.md").unlink()
    put("e/f.md", "apple")
    assert sorted(found(search, "apple")) == ["d.md", "e/f.md"]
    assert found(search, "pear") == ["b.md"]
    shutil.rmtree(root)
    assert found(search, "pear") == []


def test_a_change_within_a_tick_or_with_its_times_put_back_is_seen(made, put):
    file = put("a.md", "one")
    search = made(now_ns=time.time_ns)
    assert found(search, "one") == ["a.md"]
    before = file.stat()
    with file.open("r+") as same:
        same.write("two")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert found(search, "two") == ["a.md"]
    assert found(search, "one") == []


def test_what_is_read_again_and_is_the_same_is_not_folded_again(made, put, folds):
    put("a.md", "one")
    search = made(now_ns=time.time_ns)
    found(search, "one")
    folds.clear()
    found(search, "nothing")
    assert folds == []


def test_where_there_is_no_folder_for_it_nothing_is_made(made, put, tmp_path, outer, tree):
    outer.rmdir()
    put("a.md", "one")
    before = tree(tmp_path)
    assert found(made(), "one") == ["a.md"]
    assert tree(tmp_path) == before
    shutil.rmtree(tmp_path / "memory")
    assert found(made(), "one") == []


def test_the_next_process_goes_on_where_the_last_one_was(made, put, outer, folds):
    put("a.md", "one")
    assert found(made(), "one") == ["a.md"]
    assert (outer / "search.db").stat().st_mode & 0o777 == 0o600
    folds.clear()
    assert found(made(), "nothing") == []
    assert folds == []


def test_who_is_stopped_in_the_middle_keeps_what_was_read(made, put, monkeypatch, folds):
    monkeypatch.setattr(indexing, "_BATCH_BYTES", 0)
    for name in "abc":
        put(f"{name}.md", "one")

    def stopped(path, *_):
        if path == "c.md":
            raise KeyboardInterrupt
        return words(path, *_)

    words = indexing.note_of
    monkeypatch.setattr(indexing, "note_of", stopped)
    with pytest.raises(KeyboardInterrupt):
        found(made(), "one")
    monkeypatch.setattr(indexing, "note_of", words)
    folds.clear()
    assert found(made(), "one") == ["a.md", "b.md", "c.md"]
    assert folds == ["c.md"]


# ---- secrets -------------------------------------------------------------------------------------


def beginnings(value):
    return [f"{value[:size]}*" for size in range(1, len(value) + 1)]


def test_a_secret_is_found_neither_whole_nor_by_any_beginning_or_part(made, put, outer, vault):
    value = "x7" + secrets.token_hex(16)
    vault.keep(value)
    put("a.md", f"---\ndescription: it is {value}\n---\nsay {value} twice {value[:4]}\n")
    put(f"{value}.md", "text")
    search = made()
    short = value[:4]  # in clear in the note, as it may be: so that is what can be found
    for query in (*beginnings(value), *beginnings(value[8:]), value, f'"{value}"', value[:20]):
        assert found(search, query) in ([], ["a.md"]), query
        if len(query) > len(short) + 1:
            assert found(search, query) == [], query
    assert sorted(found(search, "redacted")) == ["[REDACTED].md", "a.md"]
    assert value.encode()[:12] not in (outer / "search.db").read_bytes()
    for each in search.search(terms_of("say"), 50):
        assert value[4:] not in str(each)


def test_what_has_the_shape_of_a_token_is_not_found_either(made, put):
    token = "ghp_" + secrets.token_hex(18)
    put("a.md", f"the token {token} of ours")
    search = made()
    assert found(search, "token ours") == ["a.md"]
    assert [query for query in beginnings(token[4:]) if found(search, query)] == []


@pytest.mark.parametrize("on_disk", [True, False])
def test_a_secret_that_came_later_is_not_found_and_is_in_no_index(made, put, outer, vault, on_disk):
    if not on_disk:
        outer.rmdir()
    value = secrets.token_hex(16)
    put("a.md", f"say {value} here")
    search = made()
    assert found(search, value[:6] + "*") == ["a.md"]
    vault.keep(value)
    assert found(search, value[:6] + "*") == []
    assert found(search, "say here") == ["a.md"]
    if on_disk:
        assert value.encode() not in (outer / "search.db").read_bytes()
        assert found(made(), value[:6] + "*") == []
    vault.keep()
    assert found(search, value[:6] + "*") == ["a.md"]


def test_a_secret_that_comes_while_notes_are_read_is_in_no_index(
    made, put, outer, vault, monkeypatch
):
    value = secrets.token_hex(16)
    put("a.md", f"say {value}")
    plain = indexing.note_of

    def note_of(*arguments):
        note = plain(*arguments)
        if not vault.values:
            vault.keep(value)
        return note

    monkeypatch.setattr(indexing, "note_of", note_of)
    assert found(made(), value[:6] + "*") == []
    assert value.encode() not in (outer / "search.db").read_bytes()


# ---- an index that is not ours -------------------------------------------------------------------


def test_a_forged_index_can_hide_a_note_and_make_none_up(made, put, outer):
    put("a.md", "---\ndescription: a\n---\napple")
    put("b.md", "---\ndescription: b\n---\npear")
    search = made()
    assert found(search, "apple") == ["a.md"]
    db = sqlite3.connect(outer / "search.db")
    db.execute("UPDATE words SET body = ' banana ' WHERE summary = ' a '")
    db.execute("UPDATE words SET body = ' apple ' WHERE summary = ' b '")
    db.commit()
    db.close()
    assert found(search, "apple") == []
    assert found(search, "banana") == []
    put("b.md", "apple")
    assert found(search, "apple") == ["b.md"]


def spoil(outer, kind, tmp_path):
    file = outer / "search.db"
    whole = file.read_bytes()
    if kind == "cut":
        file.write_bytes(whole[: len(whole) // 2])
    elif kind == "noise":
        file.write_bytes(whole[:4_096] + os.urandom(len(whole) - 4_096))
    elif kind == "text":
        file.write_text("no database")
    elif kind == "empty":
        file.write_bytes(b"")
    elif kind == "link":
        file.rename(tmp_path / "elsewhere.db")
        file.symlink_to(tmp_path / "elsewhere.db")
    elif kind == "open":
        file.chmod(0o644)
    elif kind == "trigger":
        db = sqlite3.connect(file)
        db.execute("CREATE TRIGGER t AFTER INSERT ON notes BEGIN DELETE FROM notes; END")
        db.commit()
        db.close()
    elif kind == "another's":
        db = sqlite3.connect(file)
        db.execute("UPDATE about SET state = 'x'")
        db.execute("INSERT INTO about VALUES ('y')")
        db.commit()
        db.close()
    elif kind == "folder":
        file.unlink()
        file.mkdir()


@pytest.mark.parametrize(
    "kind",
    ["cut", "noise", "text", "empty", "link", "open", "trigger", "another's", "folder"],
)
def test_one_that_is_broken_or_none_of_ours_is_made_anew(made, put, outer, tmp_path, kind):
    for number in range(20):
        put(f"{number:02}.md", f"apple {number}")
    everything = found(made(), "apple")
    spoil(outer, kind, tmp_path)
    assert found(made(), "apple") == everything
    if kind != "folder":
        assert found(made(), "apple") == everything
        assert sqlite3.connect(outer / "search.db").execute("SELECT count(*) FROM notes").fetchone()


def test_where_it_cannot_be_written_it_is_in_memory(as_nobody, vault, token):
    memory, outer = as_nobody / "memory", as_nobody / ".nocturn"
    memory.mkdir()
    (memory / "a.md").write_text("apple")
    outer.mkdir()
    outer.chmod(0o500)
    assert found(NoteSearch(memory, outer, vault, token), "apple") == ["a.md"]
    assert not any(outer.iterdir())


def test_a_key_that_cannot_be_used_costs_no_more_than_time(made, put):
    def broken(_):
        raise ConfigurationError("no key")

    put("a.md", "apple")
    assert found(made(token=broken), "apple") == ["a.md"]


def test_secrets_that_cannot_be_read_let_nothing_through(made, put, outer, vault):
    put("a.md", "apple")
    found(made(), "apple")

    def locked():
        raise ConfigurationError("locked")

    vault.state = locked
    with pytest.raises(ConfigurationError):
        found(made(), "apple")
    assert (outer / "search.db").exists()


def test_a_python_without_fts5_says_so(made, put, monkeypatch):
    put("a.md", "apple")
    monkeypatch.setattr("nocturn.store.fulltext.has_full_text", lambda: False)
    with pytest.raises(ConfigurationError, match="FTS5"):
        found(made(), "apple")


def test_what_was_derived_can_be_forgotten_whole(made, put, outer):
    put("a.md", "apple")
    search = made()
    found(search, "apple")
    search.forget()
    assert [each.name for each in outer.iterdir() if each.suffix != ".lock"] == []
    assert found(search, "apple") == ["a.md"]
    shutil.rmtree(outer)
    search.forget()
    assert not outer.exists()


# ---- what is no note -----------------------------------------------------------------------------


def test_what_cannot_be_read_is_not_found_and_hides_nothing(made, put, root, outside):
    put("a.md", "apple")
    put("latin.md", b"apple caf\xe9")
    put("large.md", "apple " + "x" * 131_072 + " pear")
    (root / "link.md").symlink_to(outside / "secret.md")
    os.mkfifo(root / "pipe.md")
    search = made()
    assert found(search, "apple") == ["a.md", "large.md"]
    assert found(search, "pear") == []
    assert found(search, "yours") == []


def test_a_folder_that_is_a_link_is_refused(made, root, outside):
    root.symlink_to(outside)
    with pytest.raises(NocturnError) as refused:
        found(made(), "yours")
    assert refused.value.code == PATH_ESCAPE
