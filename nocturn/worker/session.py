"""The C functions of a context in which lines follow one another, as in a browser's console.

The engine has no word for it: what ``let``, ``const`` or ``class`` has declared cannot be declared
again, since each line is a script. The names stand in an object of the engine's own, which is given
to js/session.js; there a name is taken away that a line declares anew, and that is all.
"""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int, c_int64
from time import monotonic

from nocturn.worker.native import (
    ASYNC,
    COMPILE_ONLY,
    PENDING,
    REJECTED,
    TAG_BOOL,
    TAG_EXCEPTION,
    TAG_INT,
    TAG_OBJECT,
    TYPE_MODULE,
    Native,
    UnfitEngineError,
    Value,
)

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from typing import Any, Final

__all__ = ["Session"]

_AWAITED: Final = b"void await 0;\n"
AHEAD_LINE: Final = -1
"""Two lines ahead of the guest's first. The engine takes 0 for 1."""
_UNENDED: Final = ("unexpected end of comment", "Unexpected end of input")
_ENDED: Final = ("unexpected end of regexp", "missing initializer for variable")
"""What the engine says of a text that lacks its end, wherever it says it; and of one that does not,
though it says so at the end."""
_NO_PATTERN: Final = ("variable name expected", "invalid destructuring target")
_LOOK_SECONDS: Final = 0.5
"""How long lines are looked at for their ends; the host waits some times as long."""
_CONTEXT_WORDS: Final = 256
"""How far into the engine's context its global objects are looked for; they stand at word 62."""


class _EvalOptions(ctypes.Structure):
    """``JSEvalOptions``, in its first version."""

    _fields_ = (("version", c_int), ("flags", c_int), ("filename", c_char_p), ("line", c_int))


class Session(Native):
    """:class:`Native`, and what a session needs besides; a single run uses nothing of it."""

    def __init__(self, library: Any, context: Any) -> None:
        super().__init__(library, context)
        self._left: list[
            Value
        ] = []  # what earlier lines have awaited in vain, and may still settle

    def open_scope(self) -> None:
        """Hands the prelude the object in which the engine keeps ``let``, ``const`` and ``class``.

        The engine has no call for it. In its context it stands right behind the global object.

        Raises:
            UnfitEngineError: It does not.
        """
        library, world = self._library, self._property(self._holder, b"world")
        words = (c_int64 * _CONTEXT_WORDS).from_address(self._js)
        self._free(self._eval(b"let __nocturn_probe = 42", b"check", 0))
        for at in range(_CONTEXT_WORDS - 3):
            if (words[at], words[at + 1], words[at + 3]) == (world.payload, world.tag, TAG_OBJECT):
                scope = Value(words[at + 2], TAG_OBJECT)
                probe = self._property(scope, b"__nocturn_probe")
                if (probe.payload, probe.tag) == (42, TAG_INT):
                    held = library.JS_DupValue(self._js, scope)
                    library.JS_SetPropertyStr(self._js, self._holder, b"scope", held)
                    self._free(world)
                    return
        raise UnfitEngineError

    def begin_line(self, *, modular: bool) -> None:
        """Runs the session's line that stands in ``native`` up to its first ``await``.

        What it declares may be declared already: nothing of it has run when the engine says so, and
        the prelude takes the old one away.

        Args:
            modular: Whether the word ``import`` or ``export`` stands in it.
        """
        source, name = self._text(b"source"), self._text(b"name")
        self._missed, self._running = False, True
        if self._awaited is not None:  # of a line that never settled, and may yet
            self._left.append(self._awaited)
            self._awaited = None
        program = self._compiled_line(source, name)
        if program.tag != TAG_EXCEPTION:
            self._started(b"boxed", self._with_names_free(program))
        elif modular:
            self._free(self._library.JS_GetException(self._js))
            self.begin(asynchronous=True, modular=True)
        else:
            problem = self._library.JS_GetException(self._js)
            self._tell(b"ended", self._string(b"thrown"), problem)

    def tell_rejections(self) -> None:
        """Tells of the lines that nobody waits for any more, too."""
        for promise in self._left[:]:
            state = self._library.JS_PromiseState(self._js, promise)
            if state == PENDING:
                continue
            if state == REJECTED:
                self._tell(b"rejected", self._library.JS_PromiseResult(self._js, promise))
            self._left.remove(promise)
            self._free(promise)
        super().tell_rejections()

    def is_unfinished(self, source: bytes) -> bool:
        """Returns whether a text would be a line with more behind it; runs nothing.

        Args:
            source: The text, UTF-8.
        """
        source = source.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        script = ASYNC | COMPILE_ONLY
        forms = [(b"", b"", script)]
        if source.lstrip().startswith(b"{"):
            forms.append((b"(\n", b"\n)", script))
        if b"import" in source or b"export" in source:
            forms.append((b"", b"", TYPE_MODULE | COMPILE_ONLY))
        tried = [self._lacks_its_end(*form, source) for form in forms]
        return True in tried and None not in tried

    def ends(self, lines: list[bytes], known: int) -> list[int]:
        """Returns how many lines were looked at, and after which of them a statement ends.

        Args:
            lines: The lines, UTF-8; a statement begins with the first.
            known: So many of them are known to be the beginning of one, and no more.
        """
        until = monotonic() + _LOOK_SECONDS
        start, seen = 0, known
        found: list[int] = []
        while seen < len(lines) and (seen == known or monotonic() < until):
            seen += 1
            if not self.is_unfinished(b"\n".join(lines[start:seen])):
                found.append(seen)
                start = seen
        return [seen, *found]

    def _compiled_line(self, source: bytes, name: bytes) -> Value:
        """Returns a session's line as the engine's program, or an exception.

        What is there to say before any job ran is not the guest's to say, so a line begins with an
        ``await``. And ``{a: 1}`` is an object, if it can be one: in brackets and in parentheses,
        since either may be closed and opened again by what stands in them.
        """
        strict = self._property(self._holder, b"strict")
        head = b'"use strict";' if strict.payload == 1 else b""
        if source.lstrip().startswith(b"{"):
            for opened, closed in ((b"[", b"]"), (b"(", b")")):
                text = b"%s%s%s\n%s\n%s" % (head, _AWAITED, opened, source, closed)
                program = self._eval_at(text, name, ASYNC | COMPILE_ONLY, AHEAD_LINE)
                if program.tag == TAG_EXCEPTION:
                    self._free(self._library.JS_GetException(self._js))
                    break
                if opened == b"(":
                    return program
                self._free(program)
        text = b"%s%s\n%s" % (head, _AWAITED, source)
        return self._eval_at(text, name, ASYNC | COMPILE_ONLY, AHEAD_LINE)

    def _with_names_free(self, program: Value) -> Value:
        """Returns the promise of a line that is under way, and lets go of its program.

        Each attempt but the last frees a name, and nothing of the guest's declares one meanwhile.
        """
        library = self._library
        while True:
            held = library.JS_DupValue(self._js, program)
            value = self._enter(library.JS_EvalFunction, self._js, held)
            if not self._was_declared(value):
                self._free(program)
                return value
            library.JS_PromiseMarkAsHandled(self._js, value)
            self._forget(value)
            self._free(value)

    def _was_declared(self, value: Value) -> bool:
        """Returns whether a line could not begin for a name that is free now."""
        if value.tag == TAG_EXCEPTION or self._library.JS_PromiseState(self._js, value) != REJECTED:
            return False
        problem = self._library.JS_PromiseResult(self._js, value)
        is_free = self._is_so(b"declared", problem)
        self._free(problem)
        return is_free

    def _lacks_its_end(self, head: bytes, tail: bytes, flags: int, source: bytes) -> bool | None:
        """Returns whether a text is wrong only for what is not there; None where it is right.

        Args:
            head: What is put before it.
            tail: What is put behind it, if it is to be right.
            flags: As what it is compiled.
            source: The text.
        """
        whole, text = head + source + tail, head + source.rstrip()
        problem = self._problem_of(whole, flags)
        if problem is None:
            return None
        problem = problem if text == whole else self._problem_of(text, flags)
        if problem is None:
            return False
        message, line, column = problem
        lines = text.split(b"\n")
        rest = b"\n".join([lines[line - 1][column - 1 :], *lines[line:]])  # from where it is wrong
        if message == "unexpected end of string":
            # It is told where the text begins: a template, or one that goes on behind a ${…}.
            return rest.startswith((b"`", b"}")) or text.endswith(b"\\")
        if message in _NO_PATTERN and rest.startswith((b"{", b"[")) and len(rest) < len(source):
            # A pattern is looked for whole before it is read; a parameter's outermost is not.
            return self._lacks_its_end(b"function f(", b"){}", flags, rest) is True
        if message in _UNENDED:
            return True
        return message not in _ENDED and (line, column) > (len(lines), len(lines[-1]))

    def _problem_of(self, source: bytes, flags: int) -> tuple[str, int, int] | None:
        """Returns what the engine says is wrong, and the line and the column, in bytes; or None."""
        program = self._eval_at(source, b"x", flags, 1)
        if program.tag != TAG_EXCEPTION:
            if not flags & TYPE_MODULE:  # which is the context's own
                self._free(program)
            return None
        problem = self._library.JS_GetException(self._js)
        told = self._bytes(self._call(b"told", problem))
        self._free(problem)
        place, _, message = told.decode("utf-8", "replace").partition(" ")
        line, _, column = place.partition(":")
        return message, int(line), int(column)

    def _eval_at(self, source: bytes, name: bytes, flags: int, line: int) -> Value:
        options = _EvalOptions(1, flags, name, line)
        value: Value = self._enter(
            *(self._library.JS_Eval2, self._js, source, len(source), ctypes.byref(options))
        )
        return value

    def _is_so(self, name: bytes, argument: Value) -> bool:
        """Asks a function of the prelude's a question with a yes or a no; an error is a no."""
        answer = self._call(name, argument)
        if answer.tag == TAG_EXCEPTION:
            self._drop(answer)
        return (answer.payload, answer.tag) == (1, TAG_BOOL)
