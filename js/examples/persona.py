"""An agent that lives in files and remembers: three small scenes, and a fourth with JavaScript.

Run it with `python js/examples/persona.py` where nocturn is installed with its extra `agent`. The
model is a stand-in on this machine, so that neither a key nor a network is needed.
"""

import json
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

from nocturn.agents import AgentSpec, RuntimeOptions, agent_from_dir, compose_soul, memory_tool


class Model(BaseHTTPRequestHandler):
    """Speaks as /chat/completions does: calls the tool that it is told to, then says "noted"."""

    calls = ("memory", {"action": "add", "text": "Prefers dark roast"})
    heard: ClassVar[list[dict]] = []

    def do_POST(self) -> None:
        """Answers one request."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.heard.append(request)
        message = {"content": "noted"}
        if request["messages"][-1]["role"] != "tool":
            name, arguments = self.calls
            function = {"name": name, "arguments": json.dumps(arguments)}
            call = {"id": "c1", "type": "function", "function": function}
            message = {"content": None, "tool_calls": [call]}
        body = json.dumps({"choices": [{"message": message}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


def add_replace_remove(home: Path) -> None:
    """The smallest useful call: three actions, each of them on the disk at once."""
    file = home / "MEMORY.md"
    file.write_text("- Likes green tea.")
    memory = memory_tool(home)

    memory.execute({"action": "add", "text": "Likes hiking"})
    memory.execute({"action": "replace", "text": "green tea", "with": "oolong"})
    removed = memory.execute({"action": "remove", "text": "- Likes hiking\n"})

    print("1", removed.output, "|", file.read_text().strip())


def miss_and_user(home: Path) -> None:
    """What is not there is a loud error; the target `user` is another file."""
    file = home / "MEMORY.md"
    file.write_text("- Onboarded 2026-07.")
    memory = memory_tool(home)

    miss = memory.execute({"action": "replace", "text": "nonexistent", "with": "x"})
    memory.execute({"action": "add", "target": "user", "text": "Speaks Tamil"})

    print("2", miss.is_error, file.read_text(), "|", (home / "USER.md").read_text().strip())


def remember_within_a_turn(home: Path, options: RuntimeOptions) -> None:
    """The write is on the disk within the turn; the soul of this session stays as it was."""
    (home / "SOUL.md").write_text("You are Ava.")
    (home / "MEMORY.md").write_text("- Onboarded 2026-07.")
    Model.calls = ("memory", {"action": "add", "text": "Prefers dark roast"})

    with agent_from_dir(home, AgentSpec(model="test-model")) as ava:
        result = ava.run(options, "remember my coffee preference")
        told = [request["messages"][0]["content"] for request in Model.heard]

    print("3", result.status, result.text, "|", (home / "MEMORY.md").read_text().strip())
    print("  ", "dark roast" in "".join(told), "dark roast" in compose_soul(home))


def work_it_out(home: Path, options: RuntimeOptions) -> None:
    """The model writes JavaScript, which has the tools that the agent has, and nothing else."""
    code = """
      const days = (new Date("2026-12-24") - new Date("2026-12-01")) / 86400e3;
      nocturn.call("memory", { action: "add", text: `${days} days from 1 December to Christmas` });
      days;
    """
    Model.calls = ("code_run", {"code": code})

    with agent_from_dir(home, AgentSpec(model="test-model")) as ava:
        ava.run(options, "how long is it to Christmas? Remember it.")

    answer = json.loads(Model.heard[-1]["messages"][-1]["content"])
    print("4", answer["status"], answer["value"], answer["calls"][0]["ruling"])


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
there = RuntimeOptions(base_url=f"http://127.0.0.1:{server.server_port}", api_key="test-key")

with tempfile.TemporaryDirectory() as folder:
    for name, scene in (("one", add_replace_remove), ("two", miss_and_user)):
        (Path(folder) / name).mkdir()
        scene(Path(folder) / name)
    for name, talk in (("three", remember_within_a_turn), ("four", work_it_out)):
        (Path(folder) / name).mkdir()
        talk(Path(folder) / name, there)
server.shutdown()
server.server_close()
