import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from nocturn.agents.spec import RuntimeOptions

KEY = "sk-9fQz2LmW4cVbT7xYpR1dKs8h"


def call(tool, arguments, identity="c1"):
    """A message that calls one tool; bare, as some servers send it."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    function = {"name": tool, "arguments": text}
    return {
        "content": None,
        "tool_calls": [{"id": identity, "type": "function", "function": function}],
    }


def pieces(message, finish="stop"):
    """The events of a message that is streamed, its texts cut into pieces."""
    text = message.get("content") or ""
    for at in range(0, len(text), 3):
        yield {"choices": [{"index": 0, "delta": {"content": text[at : at + 3]}}]}
    for index, each in enumerate(message.get("tool_calls") or []):
        given = each.get("function", {}).get("arguments", "")
        named = {**each, "index": index, "function": {**each["function"], "arguments": ""}}
        yield {"choices": [{"delta": {"tool_calls": [named]}}]}
        for at in range(0, len(given), 7):
            part = {"index": index, "function": {"arguments": given[at : at + 7]}}
            yield {"choices": [{"delta": {"tool_calls": [part]}}]}
    yield {"choices": [{"delta": {}, "finish_reason": finish}]}
    yield {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}


class ModelServer:
    """Speaks /chat/completions on loopback: strict about what it is sent, free in its answers.

    Each answer is a message, which is sent bare or streamed as was asked; a function of the request
    that returns one; or ``raw(…)``, which is sent as it is. The last one is given again and again.
    """

    def __init__(self, answers, secrets):
        self.answers = list(answers)
        self.secrets = [KEY, *secrets]
        self.requests = []
        self.faults = []
        self.lock = threading.Lock()
        self.release = threading.Event()  # what stalls waits for it
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                try:
                    server.answer(self)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self):
        self.release.set()
        self.server.shutdown()
        self.server.server_close()

    def options(self, **given):
        given = {"base_url": self.url, "api_key": KEY, "backoff_seconds": 0.001, **given}
        return RuntimeOptions(**given)

    def answer(self, handler):
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        request = json.loads(body)
        with self.lock:
            self.requests.append(request)
            self.faults += self.faults_of(handler, body, request)
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, SimpleNamespace):
            answer.send(handler, self)
            return
        if request.get("stream"):
            events = [
                *(f"data: {json.dumps(each)}\n\n" for each in pieces(answer)),
                "data: [DONE]\n\n",
            ]
            send(handler, 200, "".join(events).encode(), "text/event-stream")
        else:
            send(handler, 200, json.dumps({"choices": [{"message": answer}]}).encode())

    def faults_of(self, handler, body, request):
        if handler.path != "/chat/completions":
            yield f"the path is {handler.path}"
        if handler.headers["Authorization"] != f"Bearer {KEY}":
            yield "the key is not in its header"
        if not isinstance(request.get("model"), str):
            yield "there is no model"
        for secret in self.secrets:
            if secret.encode() in body or secret in str(request):
                yield "a secret is in the request"
        for tool in request.get("tools", []):
            told = tool["function"]
            if tool["type"] != "function" or told["parameters"]["type"] != "object":
                yield f"the tool {told['name']} is not offered as one"
        yield from self.faults_of_order(request["messages"])

    def faults_of_order(self, messages):
        if "system" in [each["role"] for each in messages[1:]]:
            yield "the system prompt is not first"
        waiting = []
        for each in messages:
            if waiting and each["role"] != "tool":
                yield f"{waiting} were not answered right after"
            if each["role"] == "assistant":
                calls = each.get("tool_calls") or []
                waiting = [one["id"] for one in calls]
                yield from faults_of_speech(each, calls)
            elif not isinstance(each["content"], str):
                yield "content is no text"
            elif each["role"] == "tool":
                yield from faults_of_outcome(each, waiting)
        if waiting or messages[-1]["role"] not in ("user", "tool"):
            yield "it is not the model's turn"


def faults_of_speech(message, calls):
    for each in calls:
        if not isinstance(json.loads(each["function"]["arguments"]), dict):
            yield "the arguments of a call are no object"
    if not calls and not message["content"]:
        yield "an assistant said nothing"


def faults_of_outcome(message, waiting):
    if message["tool_call_id"] in waiting:
        waiting.remove(message["tool_call_id"])
    else:
        yield f"nobody called {message['tool_call_id']}, or it was answered before"


def send(handler, status, body, kind="application/json", **headers):
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(body)))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


def raw(body=b"", status=200, kind="application/json", **headers):
    """An answer that is sent as it is; a function of the handler and the server sends itself."""
    if callable(body):
        return SimpleNamespace(send=body)
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    return SimpleNamespace(send=lambda handler, _: send(handler, status, body, kind, **headers))


@pytest.fixture
def says():
    """What tests build answers with."""
    return SimpleNamespace(call=call, raw=raw, pieces=pieces, KEY=KEY)


@pytest.fixture
def model_server(monkeypatch):
    """Makes model servers; a request that breaks the protocol or tells a secret fails the test."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    made = []

    def make(*answers, secrets=()):
        made.append(ModelServer(answers, secrets))
        return made[-1]

    yield make
    for each in made:
        each.close()
    assert [fault for each in made for fault in each.faults] == []
