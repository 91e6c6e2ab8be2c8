"""A purge that is killed, by a real SIGKILL, leaves what works, and the next one ends it."""

from __future__ import annotations

import json

PROGRAM = """
import json, os, shutil, signal, sys
from pathlib import Path
from nocturn import Workspace

VALUE, top = "kJ8$xQ2-zR7wLm4!pT", Path(sys.argv[1]).parent
folders = [top / "ws", top / "data"]

def everything():
    found = [each for folder in folders for each in folder.rglob("*")]
    files = [each.read_bytes() for each in found if each.is_file()]
    return b"\\n".join([*map(os.fsencode, found), *files])

def prepare(ws):
    ws.memory.write("people/lina.md", "daughter", "Likes dinosaurs.")
    ws.memory.write("people/lina.md", "daughter", "Likes trains.")
    ws.memory.remove("people/lina.md")
    ws.memory.write("people/lina.md", "daughter", "Likes birds.")
    ws.memory.write("other.md", "stays", f"It is {VALUE}, and it stays.")
    ws.permissions.grant("scribe", "write", "people/lina.md")
    with ws.inbox.ask({"effects": [{"target": "people/lina.md"}], "options": []}, 0.01) as asked:
        asked.wait(lambda: True)

def purge(ws):
    ws.purge.note("people/lina.md")
    ws.purge.value(VALUE)

def kill_at(step):
    left = [step]
    def counted(call):
        def counting(*given, **named):
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*given, **named)
        return counting
    for name in ("fsync", "unlink", "replace", "rmdir", "write"):
        setattr(os, name, counted(getattr(os, name)))

with Workspace(sys.argv[1]) as ws:
    prepare(ws)
for folder in folders:
    shutil.copytree(folder, top / "before" / folder.name)
killed = 0
for step in range(1, 1_000, int(sys.argv[2])):
    for folder in folders:
        shutil.rmtree(folder)
        shutil.copytree(top / "before" / folder.name, folder)
    child = os.fork()
    if not child:
        kill_at(step)
        purge(Workspace(sys.argv[1]))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    killed += os.WIFSIGNALED(status)
    with Workspace(sys.argv[1]) as ws:
        text = ws.memory.read("other.md")
        assert text.endswith(", and it stays."), step
        purge(ws)
        left = everything()
        for gone in (VALUE.encode(), b"lina", b"daughter", b"dinosaurs", b"trains", b"birds"):
            assert gone not in left, (step, gone)
        assert b"and it stays" in left, step
        assert ws.journal.verify().whole, (step, ws.journal.verify().findings)
    if not os.WIFSIGNALED(status):
        break
print(json.dumps({"killed": killed}))
"""


def test_the_next_purge_ends_what_a_killed_one_has_begun(fresh_python):
    assert json.loads(fresh_python(PROGRAM, 9))["killed"] >= 5
