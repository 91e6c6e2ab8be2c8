from __future__ import annotations

import pytest

from nocturn.guard.cover import Cover, Gathered
from nocturn.guard.index import Piece
from nocturn.guard.target import targets_of
from nocturn.secret import Secret

KEY = "q7Xw2Lm9Zt4Kd8Rv1Bn6Hc3Jf5Gs0PyA"
BITS = 5.954


@pytest.fixture
def target():
    return next(targets_of(Secret("S", KEY), 0))


def covered(target, *spans, whole=False, plain=False):
    cover = Cover(target)
    for start, end in spans:
        cover.add(
            Piece(target, start, end, (end - start) * BITS, 0, end - start, whole), plain=plain
        )
    return cover


@pytest.mark.parametrize(
    ("spans", "leaks"),
    [
        ([(0, 11)], True),
        ([(0, 10)], False),
        ([(0, 6), (20, 26)], True),
        ([(0, 5), (20, 25)], False),
        ([(0, 8), (2, 10)], False),
        ([(0, 8), (4, 12)], True),
        ([(0, 8)] * 5, False),
    ],
)
def test_pieces_count_from_64_bits_together_and_each_place_once(target, spans, leaks):
    assert covered(target, *spans).is_leak(100) is leaks


def test_many_short_pieces_prove_nothing_in_a_long_text(target):
    pieces = [(at, at + 4) for at in range(0, 32, 4)]
    assert covered(target, *pieces).is_leak(100)
    assert not covered(target, *pieces).is_leak(100_000)


def test_a_whole_value_proves_itself_where_it_stands_plainly(target):
    assert covered(target, (0, 4), whole=True, plain=True).is_leak(10**9)
    assert not covered(target, (0, 4), whole=True).is_leak(10**9)


def test_a_trail_adds_up_what_several_calls_carried(target):
    trail = Gathered()
    trail.grow([(target, covered(target, (0, 6)))], 100)
    trail.grow([(target, covered(target, (20, 26)))], 100)
    assert trail.tries == 200
    assert trail.covers[target].is_leak(trail.tries)
