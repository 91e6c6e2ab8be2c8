"""`nocturn doctor` tells what protects this machine, and runs are refused with less."""

import json
import subprocess
import sys

import pytest

from nocturn import IsolationError, Workspace
from nocturn.cli.doctor import _MEANING

STEPS = json.loads(
    subprocess.run(
        [
            sys.executable,
            "-c",
            (
                "import json; from nocturn.worker.lockdown import STEPS;"
                "print(json.dumps([name for name, _, _ in STEPS]))"
            ),
        ],
        capture_output=True,
        check=True,
    ).stdout
)


def doctor(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-c", "from nocturn.cli.main import main; main()", "doctor", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **options,
    )


def test_it_says_of_each_protection_whether_it_is_on_and_what_it_is_for(tmp_path):
    done = doctor("--json", "--workspace", str(tmp_path / "ws"))
    told = json.loads(done.stdout)
    assert list(told["isolation"]["steps"]) == STEPS
    assert set(_MEANING) == set(STEPS)
    level = told["isolation"]["level"]
    assert done.returncode == (0 if level == "full" else 3)
    assert told["verdict"].startswith(level)
    if level == "full":
        assert told["language"]["await, modules"] == "on"
        assert told["language"]["sessions"].startswith("on")
    for extra in ("TypeScript", "agents"):
        assert told["language"][extra].startswith(("on, by", "off: pip install"))
    assert told["versions"]["python"].startswith(f"{sys.version_info.major}.")
    assert told["places"]["workspace"] == {"path": str(tmp_path / "ws"), "mode": None}
    assert not (tmp_path / "ws").exists()


def test_it_shows_modes_of_what_is_there_and_a_verdict_of_one_line(tmp_path):
    with Workspace(tmp_path / "ws") as ws:
        ws.memory.write("a.md", "s", "c")
    shown = doctor("--workspace", str(tmp_path / "ws")).stdout
    assert "0700" in shown
    assert shown.splitlines()[-1].split(":")[0] in ("full", "no-landlock", "rlimits-only", "none")


@pytest.mark.skipif(sys.platform != "linux", reason="a resource limit makes a step fail on Linux")
def test_a_step_that_fails_is_said_and_nothing_runs(tmp_path):
    # A hard limit below what deep recursion needs, as a container may set it.
    script = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, 8 << 20));"
        "from nocturn.cli.main import main; main()"
    )
    for command in (["doctor"], ["eval", "1"]):
        done = subprocess.run(
            [sys.executable, "-c", script, *command, "--workspace", str(tmp_path / "ws")],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if "full:" in done.stdout or done.stdout == "1\n":
            pytest.skip("root may raise the limit here")
        assert done.returncode == 3
        assert "stack" in done.stdout + done.stderr


def test_less_than_full_isolation_is_refused_unless_it_was_asked_for(ws, monkeypatch):
    from nocturn.host import exchange

    real = exchange.codec.decode

    def weaker(payload):
        frame = real(payload)
        if frame.get("type") == "ready":
            frame |= {"level": "no-landlock", "steps": frame["steps"] | {"landlock": "off: why"}}
        return frame

    monkeypatch.setattr(exchange.codec, "decode", weaker)
    with pytest.raises(IsolationError) as refused:
        ws.run("1")
    assert "landlock is off: why" in refused.value.message
    assert "best-effort" in refused.value.message
    ws._isolation = "best-effort"
    result = ws.run("1")
    assert (result.value, result.isolation) == (1, "no-landlock")
