"""An OpenAI-compatible endpoint: one question to a model, one answer, whatever the network does.

The openai package speaks with it; the answer's bytes are counted and read here, since the package
would read an answer of any length, and makes objects of whatever stands in it.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final

from nocturn.agents.events import Retrying, TextDelta
from nocturn.agents.pieces import Gathering
from nocturn.agents.reply import ModelError, parsed, reply_of, words_of
from nocturn.agents.spec import KEY_VARIABLE, require_header
from nocturn.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nocturn.agents.events import Event
    from nocturn.agents.reply import Reply
    from nocturn.agents.spec import RuntimeOptions

__all__ = ["ANSWER_BYTES", "Endpoint", "environment_key", "require_package"]

ANSWER_BYTES: Final = 33_554_432
"""A longer answer is cut off while it is read. Streamed, each token takes some 250 bytes."""
_ERROR_BYTES: Final = 65_536
"""What is read of an answer that says what went wrong."""
_CONNECT_SECONDS: Final = 15.0
_LONGEST_BACKOFF_SECONDS: Final = 30.0
_BUSY: Final = 429
_BROKEN: Final = 500
_OK: Final = range(200, 300)
_UNUSABLE: Final = (
    "a variable of the environment that is for the connection to the model is not usable: look at "
    "OPENAI_BASE_URL and the other OPENAI_…, at the proxies' (HTTPS_PROXY, ALL_PROXY) and SSL_…"
)


def require_package() -> None:
    """Raises ``ConfigurationError`` where the openai package is not installed."""
    try:
        import openai  # noqa: F401 # pyright: ignore[reportUnusedImport] - whether it is there
    except ImportError:
        raise ConfigurationError(
            "an agent needs the openai package: install nocturn with its extra, "
            "pip install 'nocturn[agent]'"
        ) from None


def environment_key() -> str:
    """Returns the key that the environment holds.

    Raises:
        ConfigurationError: It holds none, or something that is none.
    """
    key = os.environ.get(KEY_VARIABLE, "")
    if not key:
        raise ConfigurationError(
            f"there is no key for the model: give api_key, or set {KEY_VARIABLE} (any text for an "
            "endpoint that wants none)"
        )
    require_header(key, KEY_VARIABLE)
    return key


class Endpoint:
    """Asks one model. For one thread and its event loop.

    Args:
        model: The model's name.
        key: The key.
        options: The run's options.
        tell: Told of text and of retries.

    Attributes:
        requests: How many requests were made.
    """

    def __init__(
        self, model: str, key: str, options: RuntimeOptions, tell: Callable[[Event], None]
    ) -> None:
        import openai

        self.requests = 0
        self._model = model
        self._options = options
        self._tell = tell
        self._refused: ModelError | None = None
        self._failures: tuple[type[Exception], ...] = (
            openai.OpenAIError,
            OSError,
            UnicodeError,
            *_network_errors(),
        )
        try:
            self._client: Any = openai.AsyncOpenAI(
                api_key=key,
                base_url=options.base_url,
                max_retries=0,  # ours know the deadline, and are told of
                timeout=openai.Timeout(None, connect=_CONNECT_SECONDS),  # the rest: the deadline's
                http_client=openai.DefaultAsyncHttpxClient(
                    follow_redirects=False,  # the key is for this place and no other
                    event_hooks={"response": [self._refuse]},
                ),
                default_headers={"Accept-Encoding": "identity"},  # so that what is counted is all
            )
        except Exception:  # noqa: BLE001 - httpx has many, and their texts may hold a password
            self._client = None
        if self._client is None:  # raised out here, so that no such text goes along
            raise ModelError(_UNUSABLE)

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def ask(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]],
        left_seconds: Callable[[], float],
    ) -> Reply:
        """Returns the model's answer; asks again where that may help.

        Args:
            messages: The conversation.
            tools: The tools on offer, each as the protocol has it.
            left_seconds: How long the run may still take.

        Raises:
            ModelError: There is none to be had.
        """
        attempt = 1
        while True:
            try:
                return await self._ask_once(messages, tools)
            except ModelError as error:
                wait = self._wait(error, attempt)
                if wait is None:
                    raise
                if wait >= left_seconds():
                    error.message += f"; to ask again in {wait:,.6g} s would be too late"
                    raise
                attempt += 1
                self._tell(Retrying(attempt, wait, error.message))
            await asyncio.sleep(wait)

    def _wait(self, error: ModelError, attempt: int) -> float | None:
        """Returns how long to wait before asking again, in seconds; None: do not."""
        if not error.again or attempt > self._options.retries:
            return None
        wait = min(self._options.backoff_seconds * 2.0 ** (attempt - 1), _LONGEST_BACKOFF_SECONDS)
        wait *= random.uniform(0.5, 1.0)  # noqa: S311 - so that not all come back at once
        return max(wait, error.after_seconds or 0.0)

    async def _ask_once(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]
    ) -> Reply:
        request: dict[str, Any] = {"model": self._model, "messages": messages}
        if tools:
            request["tools"] = tools
        if self._options.stream:
            request |= {"stream": True, "stream_options": {"include_usage": True}}
        create: Any = self._client.chat.completions.with_streaming_response.create
        self.requests += 1
        self._refused = None
        try:
            async with create(**request) as response:
                return await self._read(response)
        except self._failures as error:
            failure = self._refused or _failure(error)
        raise failure  # out here: the package's error holds the request, and so the key

    async def _read(self, response: Any) -> Reply:
        encoding = response.headers.get("content-encoding", "identity")
        if encoding.strip().lower() not in {"", "identity"}:
            raise ModelError("the model's answer is compressed, which was not asked for")
        left = ANSWER_BYTES
        gathering: Gathering | None = None
        if response.headers.get("content-type", "").lower().startswith("text/event-stream"):
            gathering = Gathering(lambda text: self._tell(TextDelta(text)))
        whole = bytearray()
        async for chunk in response.iter_bytes():
            left -= len(chunk)
            if left < 0:
                raise ModelError(f"the model's answer has more than {ANSWER_BYTES:,} bytes")
            if gathering is None:
                whole += chunk
            else:
                gathering.feed(chunk)
                if gathering.ended:  # a server need not close after it
                    break
        return reply_of(parsed(bytes(whole)) if gathering is None else gathering.body())

    async def _refuse(self, response: Any) -> None:
        """Turns a response that is no answer into an error, of which it reads no more than little.

        The package would read all of it, be it without end.
        """
        status = response.status_code
        if status in _OK:
            return
        body = bytearray()
        with suppress(*self._failures):  # the status says enough
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > _ERROR_BYTES:
                    break
        await response.aclose()
        message = f"the model's endpoint answers {status}"
        with suppress(ModelError):
            said = words_of(parsed(bytes(body[:_ERROR_BYTES])))
            message += f": {said}" if said else ""
        self._refused = ModelError(
            message,
            again=status == _BUSY or status >= _BROKEN,
            after_seconds=_after_seconds(response.headers.get("retry-after")),
        )
        raise OSError("refused")  # ends the request; what is told is the error above


def _network_errors() -> tuple[type[Exception], ...]:
    """Returns what breaks while an answer is read, which the package does not make its own."""
    import sys

    found = [sys.modules.get(name) for name in ("httpx", "httpx2")]  # by the package's version
    return tuple(module.RequestError for module in found if module is not None)


def _failure(error: BaseException) -> ModelError:
    """Returns a network error as ours. Its text is not told: it may name what is secret."""
    import openai

    if isinstance(error, UnicodeError):  # of a header
        return ModelError(_UNUSABLE)
    if isinstance(error, openai.APITimeoutError):
        return ModelError("the model's endpoint cannot be reached in time", again=True)
    if isinstance(error, openai.APIConnectionError):
        return ModelError("the model's endpoint cannot be reached", again=True)
    if isinstance(error, openai.OpenAIError):
        return ModelError("the model's endpoint gives no answer that the openai package takes")
    return ModelError("the connection to the model's endpoint broke", again=True)


def _after_seconds(text: str | None) -> float | None:
    """Returns what ``Retry-After`` asks for: seconds, or a date; None where it is neither."""
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - time.time()
        except (ValueError, OverflowError, TypeError):
            return None
    return seconds if 0 <= seconds < float("inf") else None
