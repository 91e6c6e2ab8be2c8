"""What the README shows, runs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from nocturn import Limits

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_script_on_the_first_screen_runs(nocturn_workspace):
    ws = nocturn_workspace()
    (source,) = blocks("js")
    result = ws.run(source, mode="watched").raise_for_error()
    assert result.console[0].text == "wrote people/lina.md, 84 bytes"
    assert ws.memory.catalog() == "people/lina.md — daughter, 7 years old, in school"


@pytest.mark.parametrize("source", blocks("python"))
def test_the_python_examples_print_what_they_say(tmp_path, source):
    done = subprocess.run(
        [sys.executable, "-c", source],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    said = re.findall(r"#  ?(True|weather/.*|\d \d)$", source, re.MULTILINE)
    assert done.stdout.splitlines() == said


def test_the_refused_call_gives_the_code_and_the_status(tmp_path):
    shown, _ = blocks("console")
    code = re.search(r"--strict '(.*)'$", shown, re.MULTILINE)[1]
    done = subprocess.run(
        [
            *(sys.executable, "-c", "from nocturn.cli.main import main; main()"),
            *("eval", "--workspace", str(tmp_path / "ws"), "--strict", code),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert str(done.returncode) == shown.splitlines()[-1]
    place = shown.splitlines()[2].split(" ")[0]
    assert done.stderr.splitlines()[1].startswith(f"{place} NocturnError GATE_DENIED")
    assert not (tmp_path / "ws").exists()


def test_the_session_that_is_shown_goes_as_it_does(nocturn_workspace):
    _, shown = blocks("console")
    typed = re.findall(r"^> ([^.].*)$", shown, re.MULTILINE)
    ws = nocturn_workspace()
    ws.memory.write("people/lina.md", "daughter", "Likes dinosaurs.")
    with ws.session(limits=Limits(wall_seconds=1)) as session:
        results = [session.eval(line) for line in typed]
    assert f"= {results[1].shown}\n" in shown
    assert results[2].rolled_back
    assert results[2].error.message.split("; ")[1] in shown


@pytest.mark.parametrize("target", re.findall(r"\]\(([^)]+)\)", README))
def test_every_link_leads_somewhere(target):
    assert (ROOT / target).exists()


def test_the_two_commands_are_there():
    (commands,) = [each for each in blocks("sh") if "scripts" in each]
    for line in commands.splitlines():
        assert (ROOT / line.split()[0]).stat().st_mode & 0o111


def test_the_example_of_a_tool_of_ones_own_runs():
    done = subprocess.run(
        [sys.executable, str(ROOT / "js" / "examples" / "own_tool.py")],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.splitlines() == [
        "shopper would add milk",
        "shopper would add a pony",
        "GATE_DENIED declined",
        "['milk', 'milk']",
    ]


def test_the_example_of_a_persona_runs():
    pytest.importorskip("openai")
    done = subprocess.run(
        [sys.executable, str(ROOT / "js" / "examples" / "persona.py")],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.splitlines() == [
        "1 ok (remove → MEMORY.md); loads next session | - Likes oolong.",
        "2 True - Onboarded 2026-07. | - Speaks Tamil",
        "3 done noted | - Onboarded 2026-07.",
        "- Prefers dark roast",
        "   False True",
        "4 ok 23 allow",
    ]
