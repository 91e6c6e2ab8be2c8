"""One note, one name, on real disks that do not tell ``Lina.md`` from ``lina.md``.

exFAT keeps a name as it was given; NTFS, mounted to ignore case, shows it in lower case.
"""

from __future__ import annotations

import shutil
import subprocess
import unicodedata
from dataclasses import dataclass

import pytest

from nocturn import NocturnError, Workspace
from nocturn.errors import BAD_ARGUMENTS, NAME_TAKEN, NOT_FOUND

DISK_BYTES = 4 << 20
COMPOSED, DECOMPOSED = (unicodedata.normalize(form, "café.md") for form in ("NFC", "NFD"))


@dataclass(frozen=True)
class Kind:
    """A kind of file system, and how it is made and mounted by FUSE.

    With the mask only its owner may write there: a folder that others may change is not trusted.
    """

    make: tuple[str, ...]
    mount: tuple[str, ...]
    by_loop: bool


KINDS = {
    "exfat": Kind(("mkfs.exfat",), ("mount.exfat-fuse", "-o", "umask=077"), by_loop=True),
    "ntfs": Kind(
        ("mkntfs", "--force", "--quick", "--quiet"),
        ("lowntfs-3g", "-o", "ignore_case,umask=077"),
        by_loop=False,
    ),
}


def ran(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)


@pytest.fixture(scope="module")
def mounted(tmp_path_factory):
    """Gives a disk of each kind, which is unmounted at the end."""
    disks, loops = {}, []

    def mount(name):
        if name in disks:
            return disks[name]
        kind = KINDS[name]
        if missing := [each for each in (kind.make[0], kind.mount[0]) if not shutil.which(each)]:
            pytest.skip(f"{missing[0]} is not installed")
        image, place = (tmp_path_factory.mktemp(name) / each for each in ("image", "disk"))
        with image.open("wb") as file:
            file.truncate(DISK_BYTES)
        place.mkdir()
        source = image
        ran(*kind.make, image)
        if kind.by_loop:
            source = ran("losetup", "--find", "--show", image).stdout.strip()
            loops.append(source)
        done = ran(*kind.mount, source, place)
        if not place.is_mount():
            pytest.skip(f"{kind.mount[0]} cannot mount a disk here: {done.stderr.strip()}")
        disks[name] = place
        return place

    yield mount
    for each in disks.values():
        assert ran("umount", each).returncode == 0
    for each in loops:
        ran("losetup", "--detach", each)


@pytest.fixture
def opened(mounted, request):
    """Opens a workspace on a disk of a kind; it leaves nothing there."""

    def opened(kind):
        folder = mounted(kind) / "ws"
        ws = Workspace(folder)

        def close():
            ws.close()
            shutil.rmtree(folder, ignore_errors=True)

        request.addfinalizer(close)
        return ws

    return opened


@pytest.fixture(params=KINDS)
def ws(request, opened):
    return opened(request.param)


def refused(function, *args, **how):
    with pytest.raises(NocturnError) as caught:
        function(*args, **how)
    return caught.value


def entries(ws):
    root = ws.path / "memory"
    return sorted(each.relative_to(root).as_posix() for each in root.rglob("*"))


def paths(ws):
    return [note["path"] for note in ws.memory.list()["notes"]]


def test_a_name_that_differs_only_in_case_is_taken(opened):
    """M6, in a note's name and in its folder's."""
    ws = opened("exfat")
    ws.memory.write("people/Lina.md", "s", "one")
    for path, existing in (("people/lina.md", "people/Lina.md"), ("People/Lina.md", "people")):
        for call in ((ws.memory.write, path, "s", "two"), (ws.memory.remove, path)):
            error = refused(*call)
            assert (error.code, error.detail["existing"]) == (NAME_TAKEN, existing)
        assert refused(ws.memory.read, path).code == NOT_FOUND
    assert ws.memory.read("people/Lina.md").endswith("one")
    assert paths(ws) == ["people/Lina.md"]
    assert ws.memory.catalog() == "people/Lina.md — s"


def test_a_disk_that_keeps_no_capitals_says_so_and_keeps_nothing(opened):
    ws = opened("ntfs")
    for path in ("people/Lina.md", "People/lina.md"):
        assert refused(ws.memory.write, path, "s", "one").code == BAD_ARGUMENTS
        assert entries(ws) == []
    ws.memory.write("people/lina.md", "s", "one")
    error = refused(ws.memory.write, "people/Lina.md", "s", "two")
    assert (error.code, error.detail["existing"]) == (NAME_TAKEN, "people/lina.md")
    for path in ("people/Lina.md", "other/Lina.md", "Other/lina.md"):
        assert refused(ws.memory.move, "people/lina.md", path).code == BAD_ARGUMENTS
    assert entries(ws) == ["people", "people/lina.md"]
    ws.memory.append("people/lina.md", "two")
    assert ws.memory.read("people/lina.md").endswith("one\ntwo")
    assert [each["verb"] for each in ws.memory.history("people/lina.md")] == ["write", "write"]


def test_a_name_that_is_spelled_decomposed_is_the_same_note(ws):
    """M7: by the tools, and by hand."""
    ws.memory.write(COMPOSED, "s", "one")
    ws.memory.write(DECOMPOSED, "s", "two")
    assert paths(ws) == [COMPOSED]
    (ws.path / "memory" / COMPOSED).rename(ws.path / "memory" / DECOMPOSED)
    ws.memory.write(COMPOSED, "s", "three")
    assert ws.memory.read(DECOMPOSED).endswith("three")
    assert (paths(ws), len(list((ws.path / "memory").iterdir()))) == ([COMPOSED], 1)


@pytest.mark.parametrize("path", ["con.md", "aux.md", "a./b.md", "a /b.md", "x:y.md", ".md"])
def test_a_name_that_windows_cannot_store_is_refused(ws, path):
    """M8: NTFS itself would take most of them, and Windows could not open the file."""
    assert refused(ws.memory.write, path, "s", "c").code == BAD_ARGUMENTS


def test_a_note_lives_its_life_there(ws):
    memory = ws.memory
    memory.write("people/lina.md", "s", "one", if_version=None)
    memory.append("people/lina.md", "two")
    memory.edit("people/lina.md", "one", "1")
    memory.move("people/lina.md", "lina.md")
    memory.remove("lina.md", if_version=memory.stat("lina.md")["version"])
    assert paths(ws) == []
    memory.undo("lina.md")
    memory.restore("lina.md", memory.history("lina.md")[0]["number"])
    assert memory.read("lina.md").endswith("one")
    assert [each.name for each in ws.path.rglob("*.tmp")] == []


def test_a_move_that_changes_the_case_alone_spells_the_note_anew(opened):
    ws = opened("exfat")
    ws.memory.write("people/Lina.md", "s", "one")
    ws.memory.move("people/Lina.md", "people/lina.md")
    assert (paths(ws), ws.memory.read("people/lina.md")[-3:]) == (["people/lina.md"], "one")
    states = [(each["verb"], each["path"]) for each in ws.memory.history("people/lina.md")]
    assert states[0] == ("write", "people/Lina.md")
    assert {verb for verb, _ in states[1:]} == {"move"}
    ws.memory.undo("people/lina.md")
    assert paths(ws) == ["people/Lina.md"]
