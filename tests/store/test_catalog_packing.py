"""The catalog's room: bounded, counted exactly, and dealt out fairly, the newest first."""

from __future__ import annotations

import itertools
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from nocturn.store.packing import Line, packed

NOTICE = "({} more notes not listed — memory is at its limit; consolidate)"


def lines_of(*folders, size=60):
    """Makes lines of a size: each folder's name and how many it has, newer ones later."""
    clock = itertools.count()
    return [
        Line(path, f"{path} — ".ljust(size, "x"), next(clock))
        for name, count in folders
        for path in (f"{name}/n{number:03}.md" for number in range(count))
    ]


def listed(lines):
    return [each.path for each in packed(lines).lines]


def per_folder(lines):
    return Counter(each.path.rpartition("/")[0] for each in packed(lines).lines)


def test_2048_bytes_fit_without_a_notice_and_one_more_does_not():
    lines = [Line(f"{at}", "x" * size, 0) for at, size in enumerate((511, 511, 511, 512))]
    assert packed(lines).text == "\n".join(each.text for each in lines)
    assert len(packed(lines).text) == 2_048
    assert packed([*lines, Line("4", "", 0)]).text.endswith(NOTICE.format(2))


def test_a_line_over_512_bytes_is_counted_and_does_not_blank_the_rest():
    lines = [Line("a", "é" * 257, 3), Line("b", "é" * 256, 2), Line("c", "small", 1)]
    found = packed(lines)
    assert [each.path for each in found.lines] == ["b", "c"]
    assert (found.not_listed, found.too_long) == (1, 1)
    assert found.text.endswith("\nsmall\n" + NOTICE.format(1))


def test_within_a_folder_the_newest_are_listed_and_they_stand_by_path():
    lines = lines_of(("a", 100))
    found = listed(lines)
    assert found == [f"a/n{number:03}.md" for number in range(100 - len(found), 100)]


def test_folders_share_the_room_whoever_is_first_or_newest_or_fullest():
    lines = lines_of(("a", 100), ("b", 3), ("c", 500), ("", 100))
    assert sorted(per_folder(lines).items()) == [("", 10), ("a", 9), ("b", 3), ("c", 9)]


def test_where_not_every_folder_gets_a_line_those_with_the_newest_notes_do():
    lines = lines_of(*((f"f{number:03}", 2) for number in range(500)))
    found = listed(lines)
    assert found == [f"f{number:03}/n001.md" for number in range(500 - len(found), 500)]


def test_one_folder_of_long_lines_leaves_no_room_that_another_can_use():
    lines = [*lines_of(("long", 9), size=500), *lines_of(("short", 99), size=40)]
    assert per_folder(lines)["long"] == 3
    assert 2_048 - len(packed(lines).text.encode()) < 41


@st.composite
def catalogs(draw):
    folders = draw(st.integers(1, 12))
    sizes = st.sampled_from([12, 30, 60, 200, 400, 511, 512, 513, 600])
    rows = draw(
        st.lists(st.tuples(st.integers(0, folders - 1), sizes, st.integers(0, 3)), max_size=90)
    )
    return [
        Line(f"f{folder}/{at:02}.md", "é" * (size // 2) + "x" * (size % 2), changed)
        for at, (folder, size, changed) in enumerate(rows)
    ]


def folder_of(line):
    return line.path.rpartition("/")[0]


@given(catalogs(), st.randoms(use_true_random=False))
def test_packing_is_bounded_exact_sorted_fair_and_depends_on_no_order(lines, random):
    found = packed(lines)
    assert len(found.text.encode()) <= 2_048
    assert found.not_listed == len(lines) - len(found.lines)
    assert found.too_long == sum(each.bytes > 512 for each in lines)
    assert [*found.lines] == sorted(found.lines, key=lambda each: each.path)
    assert found.text == "\n".join(
        [each.text for each in found.lines]
        + [NOTICE.format(found.not_listed)] * bool(found.not_listed)
    )
    shuffled = [*lines]
    random.shuffle(shuffled)
    assert packed(shuffled) == found

    short = [each for each in lines if each.bytes <= 512]
    has = {
        folder: [e for e in found.lines if folder_of(e) == folder]
        for folder in map(folder_of, short)
    }
    for folder, own in has.items():
        rest = [each for each in short if folder_of(each) == folder and each not in own]
        if not rest:
            continue
        newest = max(each.modified_ns for each in rest)
        assert all(each.modified_ns >= newest for each in own)
        # What all others have beyond one line more than this folder would not make room for it.
        room = 2_048 - len(found.text.encode())
        for other in has.values():
            in_turn = sorted(other, key=lambda each: (-each.modified_ns, each.path))
            room += sum(each.bytes + 1 for each in in_turn[len(own) + 1 :])
        following = min(rest, key=lambda each: (-each.modified_ns, each.path))
        assert following.bytes + 1 > room
