"""QuickJS's own C functions, for what the binding has no word for.

``await`` at the top of a script with a value, modules, unhandled rejections, and jobs whose errors
are not turned into text, which would run the guest. The binding exports the functions; its context
is a C structure that is read here, so every step is checked before the first guest is there.

The three callbacks are made before the lock-down: afterwards no memory becomes executable.
"""

from __future__ import annotations

import ctypes
from ctypes import c_bool, c_char_p, c_int, c_int64, c_long, c_size_t, c_void_p

import _quickjs

from nocturn.worker import kernel

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from typing import Any, Final, TypeVar

    _Kind = TypeVar("_Kind", bound="Native")

__all__ = ["Native", "UnfitEngineError", "Value", "native_of"]

_VERSION: Final = b"0.17."
"""The engine whose structures these are; ``pyproject.toml`` pins the same."""

# From quickjs.h.
TYPE_MODULE: Final = 1 << 0
COMPILE_ONLY: Final = 1 << 5
ASYNC: Final = 1 << 7
TAG_STRING: Final = -7
TAG_INT: Final = 0
TAG_BOOL: Final = 1
TAG_UNDEFINED: Final = 3
TAG_EXCEPTION: Final = 6
TAG_OBJECT: Final = -1
FIRST_COLLECTION_BYTES: Final = 1 << 20
"""From this heap on the engine looks for cycles; its own 256 KiB are in reach of the prelude, and
then each fork would write to all pages of its parent's heap."""
MOST_REJECTED: Final = 1_000
"""Promises that are rejected and not handled at one time; of more than these nobody is told."""
PENDING: Final = 0
FULFILLED: Final = 1
REJECTED: Final = 2


class Value(ctypes.Structure):
    """``JSValue`` on 64-bit machines: two registers."""

    _fields_ = (("payload", c_int64), ("tag", c_int64))


class _Data(ctypes.Structure):
    """The binding's ``RuntimeData``, behind Python's head of an object."""

    _fields_ = (
        ("runtime", c_void_p),
        ("context", c_void_p),
        ("has_time_limit", c_int),
        ("time_limit", c_long),
        ("thread_state", c_void_p),
        ("interrupt", c_long * 2),
        ("callables", c_void_p),
    )


_LISTS: Final = tuple(Value * count for count in range(4))
"""Types of so many values; made anew in each fork, one would cost it 0.2 ms."""
_LOADER: Final = ctypes.CFUNCTYPE(c_void_p, c_void_p, c_char_p, c_void_p)
_TRACKER: Final = ctypes.CFUNCTYPE(None, c_void_p, Value, Value, c_bool, c_void_p)
_FUNCTIONS: Final = (
    *(b"boxed", b"ended", b"lost", b"missing", b"module", b"rejected"),
    *(b"declared", b"told"),  # in a session
)
_PROTOTYPES: Final[dict[str, tuple[Any, tuple[Any, ...]]]] = {
    "JS_Call": (Value, (c_void_p, Value, Value, c_int, c_void_p)),
    "JS_DupValue": (Value, (c_void_p, Value)),
    "JS_Eval": (Value, (c_void_p, c_char_p, c_size_t, c_char_p, c_int)),
    "JS_Eval2": (Value, (c_void_p, c_char_p, c_size_t, c_void_p)),
    "JS_EvalFunction": (Value, (c_void_p, Value)),
    "JS_ExecutePendingJob": (c_int, (c_void_p, c_void_p)),
    "JS_FreeCString": (None, (c_void_p, c_void_p)),
    "JS_FreeValue": (None, (c_void_p, Value)),
    "JS_GetException": (Value, (c_void_p,)),
    "JS_GetGlobalObject": (Value, (c_void_p,)),
    "JS_GetModuleNamespace": (Value, (c_void_p, c_void_p)),
    "JS_GetPropertyStr": (Value, (c_void_p, Value, c_char_p)),
    "JS_GetRuntime": (c_void_p, (c_void_p,)),
    "JS_GetVersion": (c_char_p, ()),
    "JS_IsPromise": (c_bool, (Value,)),
    "JS_NewStringLen": (Value, (c_void_p, c_char_p, c_size_t)),
    "JS_PromiseMarkAsHandled": (None, (c_void_p, Value)),
    "JS_PromiseResult": (Value, (c_void_p, Value)),
    "JS_PromiseState": (c_int, (c_void_p, Value)),
    "JS_SetGCThreshold": (None, (c_void_p, c_size_t)),
    "JS_SetHostPromiseRejectionTracker": (None, (c_void_p, _TRACKER, c_void_p)),
    "JS_SetModuleLoaderFunc": (None, (c_void_p, c_void_p, _LOADER, c_void_p)),
    "JS_SetPropertyStr": (c_int, (c_void_p, Value, c_char_p, Value)),
    "JS_Throw": (Value, (c_void_p, Value)),
    "JS_ToCStringLen2": (c_void_p, (c_void_p, c_void_p, Value, c_bool)),
    "js_free_rt": (None, (c_void_p, c_void_p)),
    "js_malloc_rt": (c_void_p, (c_void_p, c_size_t)),
}


class UnfitEngineError(Exception):
    """The engine is not the one that this module was written for; no guest may run in it."""


def native_of(context: Any, kind: type[_Kind]) -> _Kind | None:
    """Returns the functions of a context of the binding's; None where they are not exported.

    Args:
        context: A ``_quickjs.Context`` whose ``__nocturn_wire.native`` is an object.
        kind: What is to be made of them.

    Raises:
        UnfitEngineError: They are, and the engine is another one than was measured.
    """
    library = ctypes.CDLL(_quickjs.__file__)
    try:
        for name, (result, arguments) in _PROTOTYPES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except AttributeError:
        return None
    return kind(library, context)


class Native:
    """The C functions of one context, and what the prelude and they call each other by.

    The prelude reads and writes one object, ``native``: the source, its name and the modules stand
    there, and the functions that are told what became of them.
    """

    def __init__(self, library: Any, context: Any) -> None:
        self._library = library
        self._data = self._checked(context)
        self._js, self._runtime = self._data.context, self._data.runtime
        self._thread_state = _thread_state()
        self._undefined = Value(0, TAG_UNDEFINED)
        self._holder = self._property(
            self._property(library.JS_GetGlobalObject(self._js), b"__nocturn_wire"), b"native"
        )
        self._functions: dict[bytes, Value] = {}
        self._running = self._missed = False
        self._kind = b"plain"
        self._awaited: Value | None = None
        self._namespace = self._undefined
        self._rejected: dict[int, tuple[Value, Value]] = {}
        self._job = ctypes.byref(c_void_p())
        # Kept, or the engine would call what is no longer there.
        self._callbacks = _LOADER(self._load), _TRACKER(self._track)
        library.JS_SetModuleLoaderFunc(self._runtime, None, self._callbacks[0], None)
        library.JS_SetHostPromiseRejectionTracker(self._runtime, self._callbacks[1], None)
        library.JS_SetGCThreshold(self._runtime, FIRST_COLLECTION_BYTES)
        # Never freed: what is held here would be in use then. The process is, in the end.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(context))
        kernel.close_writable_code()

    def _checked(self, context: Any) -> _Data:
        """Returns the context's structure once it is sure to be what it is taken for."""
        head = object.__basicsize__
        data = _Data.from_address(id(context) + head)
        if (
            ctypes.sizeof(c_void_p) != 8  # noqa: PLR2004 - bytes: a JSValue is one word elsewhere
            or type(context).__basicsize__ != head + ctypes.sizeof(_Data)
            or not self._library.JS_GetVersion().startswith(_VERSION)
            or data.thread_state is not None
            or self._library.JS_GetRuntime(data.context) != data.runtime
        ):
            raise UnfitEngineError
        answer = self._library.JS_Eval(data.context, b"6*7", 3, b"check", 0)
        if (answer.payload, answer.tag) != (42, TAG_INT):
            raise UnfitEngineError
        return data

    def take_functions(self) -> None:
        """Keeps the functions that the prelude has put into ``native``."""
        for name in _FUNCTIONS:
            self._functions[name] = self._property(self._holder, name)

    def begin(self, *, asynchronous: bool, modular: bool) -> None:
        """Runs the source that stands in ``native`` up to its first ``await``.

        Args:
            asynchronous: Whether the word ``await`` stands in it.
            modular: Whether the word ``import`` or ``export`` does: if it is no script, a module.
        """
        source, name = self._text(b"source"), self._text(b"name")
        self._running = self._missed = False
        flags = ASYNC if asynchronous else 0
        kind = b"boxed" if asynchronous else b"plain"
        if not modular:
            self._running = True
            self._started(kind, self._enter(self._eval, source, name, flags))
            return
        program = self._eval(source, name, flags | COMPILE_ONLY)
        if program.tag == TAG_EXCEPTION:
            kind = b"module"
            script_error = self._library.JS_GetException(self._js)
            program = self._eval(source, name, TYPE_MODULE | COMPILE_ONLY)
            if program.tag == TAG_EXCEPTION:
                module_error = self._library.JS_GetException(self._js)
                how = b"missed" if self._missed else b"neither"
                self._tell(b"ended", self._string(how), module_error, script_error)
                return
        self._running = True
        self._started(kind, self._enter(self._library.JS_EvalFunction, self._js, program))
        if kind == b"module" and self._awaited is not None:
            self._namespace = self._library.JS_GetModuleNamespace(self._js, program.payload)

    def run_jobs(self) -> None:
        """Runs what promises have left to do, until nothing is."""
        step, runtime, job = self._library.JS_ExecutePendingJob, self._runtime, self._job
        self._data.thread_state = self._thread_state
        while (ran := step(runtime, job)) != 0:
            if ran < 0:
                self._tell(b"lost", self._library.JS_GetException(self._js))
        self._data.thread_state = None
        while self._look():
            pass

    def has_room(self) -> bool:
        """Returns whether anything more would find room in the heap."""
        piece = self._library.js_malloc_rt(self._runtime, 1)
        self._library.js_free_rt(self._runtime, piece)
        return piece is not None

    def tell_rejections(self) -> None:
        """Tells the prelude of the rejections that nobody has looked at."""
        for promise, reason in self._rejected.values():
            self._free(promise)
            self._tell(b"rejected", reason)
        self._rejected.clear()

    def _started(self, kind: bytes, value: Value) -> None:
        """Takes what evaluating the source gave: an error, its value, or a promise of it."""
        if value.tag == TAG_EXCEPTION:
            self._tell(b"ended", self._string(b"thrown"), self._library.JS_GetException(self._js))
        elif kind == b"plain" and not self._library.JS_IsPromise(value):
            self._tell(b"ended", self._string(b"value"), value)
        else:
            self._kind, self._awaited = kind, value
            # It is looked at here. Its own `then` would ask the guest for a constructor.
            self._library.JS_PromiseMarkAsHandled(self._js, value)
            self._forget(value)
            self._tell(b"ended", self._string(b"pending"))

    def _look(self) -> bool:
        """Returns whether the promise that is awaited has settled, and goes on with its result."""
        if (promise := self._awaited) is None:
            return False
        state = self._library.JS_PromiseState(self._js, promise)
        if state == PENDING:
            return False
        kind, self._awaited = self._kind, None
        value = self._library.JS_PromiseResult(self._js, promise)
        self._free(promise)
        if state != FULFILLED:
            self._tell(b"ended", self._string(b"thrown"), value)
        elif kind == b"plain":
            self._started(b"plain", value)
        else:
            inner = self._call(kind, value if kind == b"boxed" else self._namespace)
            self._free(value)
            self._started(b"plain", inner)
        return True

    def _eval(self, source: bytes, name: bytes, flags: int) -> Value:
        value: Value = self._library.JS_Eval(self._js, source, len(source), name, flags)
        return value

    def _enter(self, function: Any, *arguments: Any) -> Value:
        """Calls a C function that may run JavaScript, which may call the binding's callables.

        Those take Python's lock back with the thread state that the binding looks for here.
        """
        before, self._data.thread_state = self._data.thread_state, self._thread_state
        value: Value = function(*arguments)
        self._data.thread_state = before
        return value

    def _call(self, name: bytes, *arguments: Value) -> Value:
        """Calls a function of the prelude's; nobody's hold on the arguments changes."""
        given = _LISTS[len(arguments)](*arguments)
        return self._enter(
            self._library.JS_Call,
            *(self._js, self._functions[name], self._undefined, len(arguments), given),
        )

    def _tell(self, name: bytes, *arguments: Value) -> None:
        """Tells a function of the prelude's, and lets go of the arguments."""
        self._drop(self._call(name, *arguments))
        for each in arguments:
            self._free(each)

    def _load(self, _context: int, name: bytes, _opaque: int) -> int | None:
        """Returns the module of a name, compiled; the engine has looked whether it is there."""
        modules = self._property(self._holder, b"modules")
        source = self._property(modules, name)
        self._free(modules)
        if source.tag == TAG_STRING:
            module = self._eval(self._bytes(source), name, TYPE_MODULE | COMPILE_ONLY)
            return None if module.tag == TAG_EXCEPTION else module.payload
        self._missed = self._missed or not self._running
        asked = self._string(name)
        error = self._call(b"missing", asked)
        self._free(asked)
        if error.tag != TAG_EXCEPTION:  # else there was no memory to make it, and that is thrown
            self._library.JS_Throw(self._js, error)
        return None

    def _track(
        self, _context: int, promise: Value, reason: Value, handled: bool, _opaque: int
    ) -> None:
        """Remembers a promise that was rejected unhandled, until it is handled after all."""
        if handled:
            self._forget(promise)
        elif len(self._rejected) < MOST_REJECTED:
            held = self._library.JS_DupValue(self._js, promise)  # or its place would be another's
            why = self._library.JS_DupValue(self._js, reason)
            self._rejected[promise.payload] = held, why

    def _forget(self, promise: Value) -> None:
        for each in self._rejected.pop(promise.payload, ()):
            self._free(each)

    def _drop(self, value: Value) -> None:
        """Lets go of what a call gave; an error there was want of memory, which shows later."""
        if value.tag == TAG_EXCEPTION:
            value = self._library.JS_GetException(self._js)
        self._free(value)

    def _free(self, value: Value) -> None:
        self._library.JS_FreeValue(self._js, value)

    def _string(self, text: bytes) -> Value:
        value: Value = self._library.JS_NewStringLen(self._js, text, len(text))
        return value

    def _property(self, holder: Value, name: bytes) -> Value:
        value: Value = self._library.JS_GetPropertyStr(self._js, holder, name)
        return value

    def _text(self, name: bytes) -> bytes:
        return self._bytes(self._property(self._holder, name))

    def _bytes(self, value: Value) -> bytes:
        """Returns a string's UTF-8, lone surrogates as three bytes, and lets go of the string."""
        size = c_size_t()
        place = self._library.JS_ToCStringLen2(self._js, ctypes.byref(size), value, False)
        self._free(value)
        if place is None:
            self._free(self._library.JS_GetException(self._js))
            return b""
        text = ctypes.string_at(place, size.value)
        self._library.JS_FreeCString(self._js, place)
        return text


def _thread_state() -> int:
    """Returns Python's own record of this thread; the worker has no other."""
    get = ctypes.pythonapi.PyThreadState_Get
    get.restype = c_void_p
    state: int = get()
    return state
