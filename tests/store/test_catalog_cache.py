"""A head is read again only where its file changed, and what was kept never lies."""

from __future__ import annotations

import hmac
import os
import shutil
import time

import pytest

from nocturn.errors import STORAGE, NocturnError
from nocturn.store import heads as heads_module
from nocturn.store.catalog import NoteCatalog
from nocturn.store.heads import Heads
from nocturn.store.kept import KeptHeads

LATER_NS = 3_600 * 1_000_000_000


class Striking:
    """A redaction of these values, each text for itself."""

    def __init__(self, *values):
        self.values = values
        self.looked_at = 0

    def state(self):
        return repr(self.values).encode()

    def redact(self, text):
        self.looked_at += 1
        for value in self.values:
            text = text.replace(value, "[REDACTED]")
        return text

    def redact_all(self, texts):
        return [self.redact(text) for text in texts]


@pytest.fixture
def redaction():
    return Striking()


@pytest.fixture
def outer(tmp_path):
    return tmp_path / ".nocturn"


@pytest.fixture
def made(root, outer, token, redaction, monkeypatch):
    """Makes a catalog of its own, whose clock says that all files are old, unless told else."""
    monkeypatch.setattr(heads_module, "_WORTH_KEEPING", 0)

    def made(token=token, now_ns=lambda: time.time_ns() + LATER_NS):
        heads = Heads(root, redaction, KeptHeads(outer, token), now_ns)
        return NoteCatalog(heads, redaction)

    return made


@pytest.fixture
def put(root):
    def put(path, text):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
        return root / path

    return put


@pytest.fixture
def reads(monkeypatch):
    """The names of the files that were opened, to be emptied at will."""
    seen = []
    plain = heads_module._read

    def read(entry, now_ns):
        seen.append(entry.path)
        return plain(entry, now_ns)

    monkeypatch.setattr(heads_module, "_read", read)
    return seen


def test_only_what_has_changed_is_read_again(made, put, root, reads):
    for name in "abc":
        put(f"{name}.md", name)
    catalog = made()
    assert catalog.look().text == "a.md — a\nb.md — b\nc.md — c"
    reads.clear()
    assert catalog.look().text == "a.md — a\nb.md — b\nc.md — c"
    assert reads == []
    put("b.md", "two")
    (root / "c.md").rename(root / "d.md")
    put("e/f.md", "new")
    assert catalog.look().text == "a.md — a\nb.md — two\nd.md — c\ne/f.md — new"
    assert reads == ["b.md", "d.md", "e/f.md"]


def test_a_change_within_the_tick_of_its_clock_is_seen(root, put, redaction):
    file = put("a.md", "one")
    catalog = NoteCatalog(Heads(root, redaction), redaction)
    assert catalog.look().text == "a.md — one"
    before = file.stat()
    with file.open("r+") as same:
        same.write("two")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert catalog.look().text == "a.md — two"


def test_a_stamp_is_believed_once_it_was_old_when_the_file_was_read(made, put, reads):
    changed_ns = put("a.md", "one").stat().st_ctime_ns
    for seconds, read in ((9.9, ["a.md"] * 2), (10, ["a.md"])):
        catalog = made(now_ns=lambda seconds=seconds: changed_ns + int(seconds * 1e9))
        reads.clear()
        catalog.look()
        catalog.look()
        assert reads == read


def test_the_time_of_state_tells_of_a_change_whose_size_and_time_were_put_back(made, put):
    file = put("a.md", "one")
    catalog = made()
    assert catalog.look().text == "a.md — one"
    before = file.stat()
    while True:  # until the clock has ticked
        file.write_text("two")
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        if file.stat().st_ctime_ns != before.st_ctime_ns:
            break
    assert catalog.look().text == "a.md — two"


def test_a_file_that_was_put_in_place_of_another_is_read(made, put, root):
    old, new = put("a.md", "one"), put("b.md", "two")
    stamp = old.stat()
    catalog = made()
    catalog.look()
    os.utime(new, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    new.rename(root / "a.md")
    assert catalog.look().text == "a.md — two"


def test_a_file_of_the_future_is_read_each_time(made, put, reads):
    file = put("a.md", "one")
    ahead = time.time_ns() + 2 * LATER_NS
    os.utime(file, ns=(ahead, ahead))
    catalog = made()
    catalog.look()
    catalog.look()
    assert reads == ["a.md", "a.md"]


def test_what_is_read_again_is_not_redacted_again(root, put, redaction):
    for number in range(9):
        put(f"{number}.md", "x")
    heads = Heads(root, redaction)
    heads.look()
    redaction.looked_at = 0
    heads.look()
    assert redaction.looked_at == 0


def test_a_secret_that_came_later_is_in_no_line(made, put, outer, redaction):
    put("a.md", "say hunter2")
    outer.mkdir()
    catalog = made()
    assert catalog.look().text == "a.md — say hunter2"
    redaction.values = ("hunter2",)
    assert catalog.look().text == "a.md — say [REDACTED]"
    assert made().look().text == "a.md — say [REDACTED]"
    assert "hunter2" not in (outer / "catalog.json").read_text()
    redaction.values = ()
    assert made().look().text == "a.md — say hunter2"


def test_a_secret_that_came_later_is_in_no_head(root, put, redaction):
    put("a.md", "say hunter2")
    heads = Heads(root, redaction, now_ns=lambda: time.time_ns() + LATER_NS)

    def said():
        return [each.line.text for each in heads.look()]

    assert said() == ["a.md — say hunter2"]
    redaction.values = ("hunter2",)
    assert said() == ["a.md — say [REDACTED]"]


def test_what_is_of_two_minds_is_believed_by_neither(root, put, redaction):
    put("a.md", "say hunter2")
    heads = Heads(root, redaction, now_ns=lambda: time.time_ns() + LATER_NS)
    plain = redaction.redact_all
    redaction.values = ("hunter2",)

    def redact_all(texts):
        redaction.values = ()  # it goes while they are redacted,
        return plain(texts)

    redaction.redact_all = redact_all
    assert [each.line.text for each in heads.look()] == ["a.md — say hunter2"]
    redaction.redact_all = plain
    redaction.values = ("hunter2",)  # and comes again
    assert [each.line.text for each in heads.look()] == ["a.md — say [REDACTED]"]


def test_pieces_of_a_secret_in_several_lines_are_struck_out_of_the_catalog(root, put):
    class Together(Striking):
        def redact_all(self, texts):
            if any("hun" in each for each in texts) and any("ter2" in each for each in texts):
                return [text.replace("hun", "#").replace("ter2", "#") for text in texts]
            return [*texts]

    redaction = Together()
    catalog = NoteCatalog(Heads(root, redaction), redaction)
    put("a.md", "hun")
    assert catalog.look().text == "a.md — hun"
    put("b.md", "ter2")
    assert catalog.look().text == "a.md — #\nb.md — #"


def test_a_secret_that_is_in_its_own_mark_leaves_the_count_alone(root, put):
    put("a.md", "x")
    put("b.md", "y")
    redaction = Striking("R")
    put("c.md", "R")
    catalog = NoteCatalog(Heads(root, redaction), redaction).look()
    assert catalog.text == "(3 more notes not listed — memory is at its limit; consolidate)"


def test_heads_are_kept_from_one_process_to_the_next(made, put, outer, reads):
    put("a.md", "one")
    put("hunter2.md", "two")
    outer.mkdir()
    said = made().look().text
    assert (outer / "catalog.json").stat().st_mode & 0o777 == 0o600
    reads.clear()
    assert made().look().text == said
    assert reads == []


def test_nothing_is_kept_where_there_is_no_folder_for_it(made, put, tmp_path, tree):
    put("a.md", "one")
    before = tree(tmp_path)
    made().look()
    assert tree(tmp_path) == before


def test_a_file_that_was_not_settled_is_not_believed_from_the_kept_file(made, put, outer, reads):
    put("a.md", "one")
    outer.mkdir()
    made(now_ns=time.time_ns).look()
    reads.clear()
    made().look()
    assert reads == ["a.md"]


@pytest.fixture
def kept(made, put, outer):
    """A kept file that says something else than the note does."""
    put("a.md", "true")
    outer.mkdir()
    made().look()
    file = outer / "catalog.json"
    seal, body = file.read_bytes().split(b"\n")
    return file, seal, body.replace(b"true", b"lies")


def test_a_forged_kept_file_is_not_believed(made, kept, token):
    file, seal, body = kept
    assert b"lies" in body
    for forged in (
        seal + b"\n" + body,
        token(body).encode() + b"\n" + body,
        body,
        b"",
        b"\n",
        b"null\n[]",
        seal + b"\n" + body[:40],
        b"\xff" * 4_096,
        b"[" * 100_000,
    ):
        file.write_bytes(forged)
        assert made().look().text == "a.md — true"


def test_the_seal_is_what_a_kept_file_is_believed_for(made, kept, token):
    file, _, body = kept

    def another(data):
        return hmac.new(b"another key", data, "sha256").hexdigest()

    for seal, said in ((token, "lies"), (another, "true")):
        file.write_bytes(seal(b"heads 1\0" + body).encode() + b"\n" + body)
        assert made().look().text == f"a.md — {said}"


@pytest.mark.parametrize("kind", ["link", "folder", "fifo"])
def test_what_is_no_file_is_not_read_as_one(made, kept, tmp_path, kind):
    file, _, _ = kept
    whole = file.read_bytes()
    file.unlink()
    if kind == "link":
        (tmp_path / "elsewhere").write_bytes(whole)
        file.symlink_to(tmp_path / "elsewhere")
    elif kind == "folder":
        file.mkdir()
    else:
        os.mkfifo(file)
    assert made().look().text == "a.md — true"


def test_a_folder_of_ours_that_is_a_link_is_neither_read_nor_written(made, put, outer, tmp_path):
    put("a.md", "one")
    (tmp_path / "elsewhere").mkdir()
    outer.symlink_to(tmp_path / "elsewhere")
    assert made().look().text == "a.md — one"
    assert not any((tmp_path / "elsewhere").iterdir())


def test_a_key_that_cannot_be_used_keeps_nothing_and_tells_the_truth(made, put, outer):
    def broken(_):
        raise NocturnError(STORAGE, "no key")

    put("a.md", "one")
    outer.mkdir()
    assert made(token=broken).look().text == "a.md — one"
    assert not any(outer.iterdir())


def test_what_was_derived_can_be_forgotten_whole(made, put, outer, reads):
    put("a.md", "one")
    outer.mkdir()
    catalog = made()
    catalog.look()
    catalog.forget()
    assert not any(outer.iterdir())
    reads.clear()
    assert catalog.look().text == "a.md — one"
    assert reads == ["a.md"]
    shutil.rmtree(outer)
    catalog.forget()
    assert not outer.exists()
