"""Points out text that reads like instructions to a model, however it is dressed.

A note comes back into prompts, so one that gives orders is a way to steer a later run. This is a
short list of what such orders say: it is there so that a person looks, and proves nothing. It
misses what is put politely or in a language that it does not know, and it fires on texts about it.

Phrases are looked for in the letters alone: spaces, line breaks, markup, hyphens and invisible
characters between them hide nothing, nor do look-alikes, accents or digits for letters.
"""

from __future__ import annotations

import re
import string
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Instruction", "instructions_in"]

_LEAST: Final = 6
"""The shortest of what is looked for has so many characters."""

_HIDDEN: Final[dict[int, None]] = dict.fromkeys((0x115F, 0x1160, 0x3164, 0xFFA0))
"""Letters, if Unicode is asked, that show nothing."""
_TAGS: Final = dict(zip(range(0xE0020, 0xE007F), range(0x20, 0x7F), strict=True))
"""Tag characters show nothing and spell ASCII."""
_LOOK_ALIKES: Final = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u04cf\u0442\u043c"
    "\u0432\u043a\u043d\u051b\u051d\u0261\u0251\u0131\u03b1\u03bf\u03bd\u03c1\u03c4\u03ba\u03b9",
    "aeopcyxijsdhltmbkhqwgaiaovptki",
)
"""Small letters of other scripts that look like Latin ones, as far as such phrases need them."""
_DIGITS: Final = str.maketrans("013457@$!|", "oieastasil")
_NOT_LETTERS: Final = re.compile(r"[\W\d_]+")
_NOT_ASCII_LETTERS: Final = bytes(range(128)).translate(None, string.ascii_letters.encode())

_WHOSE: Final = "all|any|every|each|the|your|these|those|its|other|of|and|or|everyone"
_OLD: Final = "previous|prior|preceding|above|earlier|foregoing|existing|original|initial"
_ORDERS: Final = "instruction|prompt|rule|guideline|directive|command|direction|restriction"
_FREED: Final = "unrestricted|unfiltered|uncensored|jailbroken"
_MODEL: Final = "ai(?:assistant|agent|model)?|llm|(?:large)?languagemodel|chatbot|assistant"


@dataclass(frozen=True, slots=True)
class _Rule:
    """What one kind of order says.

    Attributes:
        name: Its name.
        what: What it does, for people.
        keys: Letters of which some are in every match: most texts are done with after these.
        says: The letters, as a pattern without an unbounded part.
    """

    name: str
    what: str
    keys: tuple[str, ...]
    says: str


_RULES: Final = (
    _Rule(
        "override",
        "tells its reader to ignore instructions",
        ("ignor", "disregard", "disobey", "forget", "overr", "bypass"),
        r"(?:ignor(?:e|ing)|disregard|disobey|forget|overrid(?:e|ing)|overrule|bypass)"
        rf"(?:{_WHOSE}){{0,4}}(?:(?:{_OLD}|system|developer)"
        rf"(?:{_WHOSE}|{_OLD}|system|developer){{0,4}}(?:{_ORDERS}|message|context|training|text)"
        rf"|(?:{_ORDERS})s?(?:above|before|youweregiven|youhave|youreceived)"
        r"|(?:everything|anything|whatever)(?:above|before|youweretold|youhavebeentold))",
    ),
    _Rule(
        "override",
        "tells its reader to ignore instructions, in German, French, Spanish or Italian",
        ("ignor",),
        r"ignor(?:ieren?|iert)(?:sie|du|bitte|alle|die|deine|ihre){0,4}"
        r"(?:vorherigen|vorigen|bisherigen|obigen|fruheren)(?:anweisung|befehl|regel|vorgabe)"
        r"|ignore[zr]?(?:toutes)?(?:les|tes|vos)(?:instructions|consignes|regles)(?:prece|cides|ante)"
        r"|ignor[ae][rn]?(?:todas)?(?:las|tus|sus)(?:instrucciones|ordenes|reglas)(?:anter|previ)"
        r"|ignora(?:re|te)?(?:tutte)?(?:le|tue)(?:istruzioni|regole)precedenti",
    ),
    _Rule(
        "role",
        "gives its reader another role",
        ("youareno", "pretend", "act", "behave", "respond", "fromnow", "mode", "anything"),
        rf"youarenow(?:an?|in|the|my){{0,2}}(?:{_MODEL}|{_FREED}|developermode|danmode|godmode)"
        r"|youarenolonger(?:bound|restricted|anai|anassistant)"
        r"|(?:pretend|act|behave|respond)(?:tobe|asif|as|like|youare|youwere){1,3}(?:an?)?"
        rf"(?:{_FREED}|evil|(?:{_MODEL})(?:with(?:no|out)))"
        r"|fromnowonyou(?:are|will|must|shall)(?:act|obey|answer|respond|ignore|pretend|a?nai)"
        r"|doanythingnow|(?:enable|enter|activate)(?:developer|dan|jailbreak|god)mode",
    ),
    _Rule(
        "prompt",
        "asks its reader for the prompt",
        ("systemprompt", "systemmessage", "developermessage", "hidden", "initial", "yourinstr"),
        r"(?:reveal|print|show|repeat|output|leak|display|disclose|recite|dump|exfiltrate|tell)"
        r"(?:me|us|out|verbatim|back|all|the|of|your|full|entire|whole|exact|secret){0,6}"
        r"(?:systemprompt|systemmessage|developermessage|yourinstructions"
        r"|(?:hidden|initial)(?:instructions|prompt))",
    ),
    _Rule(
        "secrecy",
        "tells its reader to keep something from the user",
        ("user", "human", "operator", "owner"),
        r"(?:donot|dont|never)(?:tell|inform|alert|warn|(?:mention|reveal|say|show)(?:this|it)to)"
        r"(?:the|your)(?:user|human|operator|owner)s?(?:about|that|of|what|anything)",
    ),
    _Rule(
        "addressed",
        "speaks to a model",
        ("noteto", "notefor", "message", "instructions", "attention", "ifyoua"),
        r"(?:noteto|notefor|messageto|messagefor|instructionsto|instructionsfor|attention)"
        rf"(?:all|any|the|every|future|other){{0,3}}(?:{_MODEL}|gpt|chatgpt|claude|gemini|copilot)s?"
        r"(?:reading|processing|summari[sz]ing|that(?:read|process)|who(?:read|process)|you|please"
        r"|must|ignore|when|if|donot)"
        r"|ifyouarean?(?:ai|llm|(?:large)?languagemodel)",
    ),
)
_MARK_KEYS: Final = ("<|", "inst]", "sys>>", "_turn>", "system", "developer", "</", "_call")
_MARKS: Final = (
    r"<\|[a-z_]{2,24}\|>|</?(?:start|end)_of_turn>|\[/?inst\]|<</?sys>>"
    r"|</?(?:system(?:[-_](?:prompt|reminder|message|instructions?))?|function_calls|tool_calls?)>"
    r"|</(?:memory|tool_result|instructions)>"
    r"|^[#\s>*=-]{0,8}(?:begin|end|new)[ _](?:system|developer)[ _](?:prompt|message|instruction)"
    r"|^[#>*\[ ]{0,8}(?:system|developer)(?: (?:prompt|message|instructions?|override))?[:\]*]{1,4}"
    r"[ \t]{0,4}(?:you |your |ignore|from now|the (?:user|assistant|model))"
)


@dataclass(frozen=True, slots=True)
class Instruction:
    """One place that reads like an instruction.

    Attributes:
        rule: ``override``, ``role``, ``prompt``, ``secrecy``, ``addressed`` or ``marks``.
        what: What it does, in words of ours.
        start: Where its line begins, in characters.
    """

    rule: str
    what: str
    start: int


def instructions_in(text: str) -> list[Instruction]:
    """Returns what reads like instructions to a model: of each rule the first place."""
    if len(text) < _LEAST:
        return []
    found: dict[str, Instruction] = {}
    for letters_of in (_letters, _letters_for_digits):
        letters = letters_of(text)
        for rule in _RULES:
            if rule.name in found or not any(key in letters for key in rule.keys):
                continue
            if match := _pattern(rule.says).search(letters):
                start = _line_of(text, match.start(), letters_of)
                found[rule.name] = Instruction(rule.name, rule.what, start)
    plain = _plain(text).lower()
    if any(key in plain for key in _MARK_KEYS) and (match := _pattern(_MARKS).search(plain)):
        what = "has the marks that tell a model's turns apart"
        start = _line_start(text, plain.count("\n", 0, match.start()))
        found["marks"] = Instruction("marks", what, start)
    return sorted(found.values(), key=lambda each: each.start)


@cache
def _pattern(says: str) -> re.Pattern[str]:
    return re.compile(says, re.MULTILINE)


def _plain(text: str) -> str:
    """Returns the text as it reads: compatible forms folded, what hides in it shown or gone."""
    if text.isascii():
        return text
    shown = unicodedata.normalize("NFKD", text.translate(_TAGS)).translate(_HIDDEN)
    return "".join(c for c in shown if c.isascii() or unicodedata.category(c) not in _UNSEEN)


_UNSEEN: Final = frozenset(("Cf", "Mn", "Me"))


def _letters(text: str) -> str:
    return _only_letters(_plain(text).lower().translate(_LOOK_ALIKES))


def _letters_for_digits(text: str) -> str:
    return _only_letters(_plain(text).lower().translate(_LOOK_ALIKES).translate(_DIGITS))


def _only_letters(text: str) -> str:
    if text.isascii():  # twenty times as quick as the pattern
        return text.encode().translate(None, _NOT_ASCII_LETTERS).decode()
    return _NOT_LETTERS.sub("", text)


def _line_of(text: str, at: int, letters_of: Callable[[str], str]) -> int:
    """Returns where the line begins that has the letter ``at``: folding knows no other lines."""
    start = seen = 0
    for line in text.split("\n"):
        seen += len(letters_of(line))
        if seen > at:
            return start
        start += len(line) + 1
    return 0


def _line_start(text: str, line: int) -> int:
    start = 0
    for _ in range(line):
        start = text.find("\n", start) + 1
    return start
