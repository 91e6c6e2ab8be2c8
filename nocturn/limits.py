"""Every number that bounds a run or a value, with its unit in its name.

``Limits`` are a run's, and a caller may change them; the constants are the product's.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from nocturn.errors import ConfigurationError

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from typing import Final

__all__ = ["Limits"]

NOTE_CONTENT_BYTES: Final = 65_536
"""A note's content, in UTF-8, a preamble that was read back not counted."""
NOTE_READ_BYTES: Final = 131_072
"""What ``memory_read`` returns of a larger, hand-made file."""
NOTE_PATH_BYTES: Final = 1_024
NAME_PART_BYTES: Final = 255
"""One part of a path: the limit of ext4, APFS (255 UTF-8 bytes there too) and, nearly, NTFS."""
PERSONA_TEXT_BYTES: Final = 65_536
"""One text of a persona's memory, in UTF-8."""
PERSONA_FILE_BYTES: Final = 2_097_152
"""A persona's file: no tool makes a larger one, and of a larger one the prompt has so much."""
SUMMARY_RAW_BYTES: Final = 4_096
SUMMARY_CODE_POINTS: Final = 120
PREAMBLE_BYTES: Final = 16_384
"""A YAML block larger than this is not read as one: it is a bomb or a body."""
LIST_PAGE: Final = 200
CATALOG_BYTES: Final = 2_048
"""The catalog in UTF-8, its notice included."""
CATALOG_LINE_BYTES: Final = 512
CATALOG_READ_BYTES: Final = 8_192
"""The head of a file that the catalog reads."""
SEARCH_QUERY_BYTES: Final = 1_024
SEARCH_TERMS: Final = 32
"""Words and phrases in one query."""
SEARCH_HITS: Final = 50
"""Notes that one search returns at most."""
SEARCH_HITS_DEFAULT: Final = 10

IMPORT_NOTES: Final = 10_000
"""What comes in with one import: each note is an effect, which the gate rules on."""
IMPORT_BYTES: Final = 8_388_608
"""All texts of one import together: the leak scan takes a second and 130 MB for one of them."""
IMPORT_PATHS_BYTES: Final = 1_048_576
"""All paths of one import together: a line of the journal names each."""
IMPORT_ENTRIES: Final = 100_000
"""What may be in a folder that is imported, notes or not."""

BACKUP_BYTES: Final = 4_294_967_296
"""What the files of a backup have together, unpacked."""
BACKUP_FILES: Final = 200_000

SECRET_CHARACTERS: Final = 4
"""A secret shorter than this is not matched: it would be in every text."""
VAULT_VALUE_BYTES: Final = 65_536
"""One value in the vault, in UTF-8."""
VAULT_BYTES: Final = 8_388_608
"""The whole of ``vault.enc``."""
BLOCKS_A_RUN: Final = 3
"""After so many leak blocks, every later call of the run that carries text is refused unscanned."""
QUESTIONS_A_RUN: Final = 10
GRANTS_AN_ANSWER: Final = 32
"""A call that has more effects to be asked about is offered a yes for once only."""
SIGNAL_SECONDS: Final = 0.25
"""How long Ctrl-C may go unseen that comes in the moment before a wait begins: Python looks for it
when the wait ends."""
ASK_SECONDS: Final = 120.0
"""How long a person has to answer."""
EDITS_A_QUESTION: Final = 20
"""So often a person may write another text before the call counts as refused."""
DRY_RUN_CHARACTERS: Final = 16_777_216
"""What a dry run's diffs have at most, together, in characters; the rest are left out."""
QUESTION_TEXT_SECONDS: Final = 86_400
"""How long the inbox keeps the text of a question after its end."""
QUESTION_SECONDS: Final = 30 * 86_400
"""How long it keeps who answered what."""

HISTORY_SECONDS: Final = 365 * 86_400
"""How long a state of a note, and what is in the trash, is kept; a note's newest state stays."""
HISTORY_BYTES: Final = 268_435_456
"""What all old contents have at most, compressed; and the trash, as it is."""

JOURNAL_FILE_BYTES: Final = 8_388_608
"""From this size on the journal's file is rotated away."""
JOURNAL_FILES: Final = 8
"""How many of them are kept, the one that grows among them: some 150,000 lines."""

PARSER_HEAP_BYTES: Final = 268_435_456
"""A parser's heap. Measured: 1 MiB of short statements, one after another, takes 230 MB."""
MOST_SECONDS: Final = 31_536_000
"""A year; the system's timers take no more than some hundreds of them."""
ENVELOPE_BYTES: Final = 65_536
"""What a frame has beside its text."""
ERROR_TEXT_CHARACTERS: Final = 8_192
"""A guest error's message or stack, on its way into a result."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one run. Nothing here can be switched off: every value is above 0.

    Attributes:
        wall_seconds: Wall clock; waiting for a person is not counted.
        cpu_seconds: CPU time of the worker.
        heap_bytes: The guest's heap.
        source_bytes: The source and the files that it imports, in UTF-8.
        console_bytes: All console lines together, in UTF-8.
        value_bytes: The completion value, as JSON in UTF-8.
        call_bytes: One call's arguments, and one reply, as JSON in UTF-8.
        calls: Calls in a run.
        calls_in_flight: Calls that are at work at one time; further ones wait for their turn.

    Raises:
        ConfigurationError: A value is not a number above 0 (naming it).
    """

    wall_seconds: float = 10.0
    cpu_seconds: float = 5.0
    heap_bytes: int = 67_108_864
    source_bytes: int = 1_048_576
    console_bytes: int = 1_048_576
    value_bytes: int = 1_048_576
    call_bytes: int = 1_048_576
    calls: int = 1_000
    calls_in_flight: int = 32

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            wanted: tuple[type, ...] = (int, float) if each.name.endswith("_seconds") else (int,)
            # NaN and infinity are "no limit" in disguise, and so are more seconds than a clock has.
            most = MOST_SECONDS if float in wanted else 2**53
            if type(value) not in wanted or not 0 < value <= most:
                msg = (
                    f"limit {each.name} is {value!r}: give a "
                    f"{'number' if float in wanted else 'whole number'} above 0, at most {most}"
                )
                raise ConfigurationError(msg)

    @property
    def frame_bytes(self) -> int:
        """The longest frame from a worker: JSON is at most six times as long as its text."""
        return 6 * max(self.call_bytes, self.value_bytes, self.console_bytes) + ENVELOPE_BYTES
