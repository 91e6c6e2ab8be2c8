"""What reads TypeScript is held like a guest, and what it says is believed within bounds only."""

import pytest

from nocturn import Limits

pytest.importorskip("tree_sitter", reason="the extra ts is not installed")
pytest.importorskip("tree_sitter_typescript", reason="the extra ts is not installed")

from nocturn.host import typescript
from nocturn.host.execution import Execution
from nocturn.host.program import Program
from nocturn.host.result import RunError


@pytest.fixture
def reader():
    made = typescript.Reader()
    yield made
    made.close()


def test_a_parser_is_locked_down_as_a_guest_is(reader):
    limits = typescript._bounds(Limits())
    execution = Execution(Program("let a: b", "a.ts"), (), limits, "best-effort", reader._pool)
    result = execution.run(typescript._refuse_call)
    guest = Execution(Program("1", "a.js"), (), Limits(), "best-effort", typescript.Pool(Limits))
    assert result.isolation == guest.run(typescript._refuse_call).isolation
    guest._pool.close()
    assert (result.value, result.calls) == ("let a   ", ())


def test_no_parser_reads_two_sources_and_the_same_source_is_read_once(reader):
    program = Program("let a: b", "a.ts", {"c.ts": "let c: d", "e.js": "let e"})
    first = reader.reading(program, Limits(), "best-effort").run()
    assert (first.text, first.files) == ("let a   ", {"c.ts": "let c   ", "e.js": "let e"})
    forked = []
    fork = reader._pool._fork
    reader._pool._fork = lambda limits: forked.append(limits) or fork(limits)
    again = reader.reading(program, Limits(), "best-effort").run()
    assert (again.text, again.files) == (first.text, first.files)
    assert forked == []


def test_a_reading_that_was_cancelled_reads_nothing(reader):
    reading = reader.reading(Program("let a: b", "a.ts"), Limits(), "best-effort")
    reading.cancel()
    assert isinstance(reading.run(), RunError)


@pytest.mark.parametrize(
    ("erased", "believed"),
    [
        ("let a   = '😀'\n", True),
        ("let a ; = '😀'\n", True),
        ("let a   =  ()\n", False),  # shorter in UTF-16 units
        ("let a:b = '😀'\n ", False),
        ("let a:c = '😀'\n", False),
        ("let a:b = '😀' ", False),  # a line end is gone
        ("let a:b\n= '😀'\n", False),
        (None, False),
        (["let a:b = '😀'\n"], False),
    ],
)
def test_a_parser_that_was_taken_over_can_only_leave_things_out(erased, believed):
    assert typescript._is_erasure("let a:b = '😀'\n", erased) is believed
