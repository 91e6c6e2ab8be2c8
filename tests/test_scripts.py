"""The scripts set themselves up once, wherever they lie and however they were interrupted.

The index is not part of this: ``uv`` here is a stand-in that makes a real virtual environment and
puts commands into it that show how they were called.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ("basename", "bash", "cat", "chmod", "dirname", "env", "mkdir", "readlink", "rm")
MORE_TOOLS = ("sed", "touch", "tr")
UV = r"""#!/usr/bin/env bash
set -e
case "$1 $2" in
  "--version "*) ;;
  "venv --quiet") "$4" -m venv --without-pip "$6" ;;
  "pip install")
    printf '%s\n' "${*:6}" >>"$UV_LOG"
    bin=$(dirname -- "$5")
    : >"$bin/../written"
    [[ ! -e $UV_LOG.hold ]] || read -r _ <"$UV_LOG.hold"
    for name in nocturn pytest; do
      printf '#!/usr/bin/env bash\nprintf "%%s\\n" %s "$PWD" "$@"\nexit 7\n' "$name" >"$bin/$name"
      chmod +x "$bin/$name"
    done
    ;;
  *) exit 1 ;;
esac
"""


@dataclass
class Project:
    """A copy of the scripts, with a PATH that holds little but what a test puts on it."""

    root: Path
    path: Path
    log: Path
    started: list[subprocess.Popen] = field(default_factory=list)

    @property
    def installs(self) -> list[str]:
        return self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []

    def put(self, name: str, text: str) -> None:
        (self.path / name).write_text(text, encoding="utf-8")
        (self.path / name).chmod(0o755)

    def start(self, script: str | Path, *args: str, cwd: Path | None = None) -> subprocess.Popen:
        process = subprocess.Popen(
            [self.root / "scripts" / script, *args],
            cwd=cwd or self.root.parent,
            env={"PATH": str(self.path), "HOME": str(self.root.parent), "UV_LOG": str(self.log)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def end(self) -> None:
        """Ends what a failed test left waiting."""
        for process in self.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            for stream in (process.stdout, process.stderr):
                stream.close()
            process.wait()

    def run(
        self, script: str | Path, *args: str, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        process = self.start(script, *args, cwd=cwd)
        out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    root = tmp_path / "my project"
    shutil.copytree(ROOT / "scripts", root / "scripts")
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, root / name)
    path = tmp_path / "bin"
    path.mkdir()
    for tool in TOOLS + MORE_TOOLS:
        found = shutil.which(tool)
        if found is None:
            pytest.skip(f"{tool}, which the scripts use, is missing")
        (path / tool).symlink_to(found)
    made = Project(root, path, tmp_path / "installs")
    made.put("python3", f'#!/usr/bin/env bash\nexec "{sys.executable}" "$@"\n')
    made.put("uv", UV)
    yield made
    made.end()


def test_the_first_start_sets_up_and_then_runs_the_command_as_it_was_given(
    project: Project, tmp_path: Path
) -> None:
    ran = project.run("nocturn", "run", "a b.js", "", cwd=tmp_path)
    assert ran.stdout.split("\n") == ["nocturn", str(tmp_path), "run", "a b.js", "", ""]
    assert ran.returncode == 7
    assert len(ran.stderr.splitlines()) == 1


def test_a_later_start_sets_up_nothing_and_says_nothing(project: Project) -> None:
    project.run("nocturn")
    again = project.run("nocturn")
    assert (again.returncode, again.stderr) == (7, "")
    assert len(project.installs) == 1


def test_a_link_to_the_script_works_from_anywhere(project: Project, tmp_path: Path) -> None:
    link = tmp_path / "noc"
    link.symlink_to("my project/scripts/nocturn")
    assert project.run(link, cwd=tmp_path / "bin").returncode == 7
    assert (project.root / ".venv").is_dir()


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_a_changed_requirement_file_sets_up_again_in_the_same_environment(
    project: Project, name: str
) -> None:
    project.run("nocturn")
    (project.root / ".venv/mine").touch()
    with (project.root / name).open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert project.run("nocturn").returncode == 7
    assert len(project.installs) == 2
    assert (project.root / ".venv/mine").exists()


def test_the_tests_ask_for_more_than_a_run_and_satisfy_it(project: Project) -> None:
    project.run("nocturn")
    tested = project.run("test", "-k", "x y")
    assert tested.stdout.splitlines()[-2:] == ["-k", "x y"]
    project.run("nocturn")
    run, test = project.installs
    assert "pytest" not in run
    assert "pytest>=" in test
    assert "ruff" not in test


def test_two_starts_at_once_set_up_once(project: Project) -> None:
    hold = project.log.with_name("installs.hold")
    os.mkfifo(hold)
    one, two = project.start("nocturn", "1"), project.start("nocturn", "2")
    # Each says that it sets up, then asks for the lock; the FIFO opens when one has it.
    assert one.stderr.readline()
    assert two.stderr.readline()
    hold.write_text("go\n", encoding="utf-8")
    outs = [each.communicate(timeout=20)[0].split()[-1] for each in (one, two)]
    assert outs == ["1", "2"]
    assert (one.returncode, two.returncode) == (7, 7)
    assert len(project.installs) == 1


def test_a_set_up_that_was_killed_is_begun_anew(project: Project) -> None:
    hold = project.log.with_name("installs.hold")
    os.mkfifo(hold)
    killed = project.start("nocturn")
    with hold.open("w", encoding="utf-8"):
        os.killpg(killed.pid, signal.SIGKILL)
    half = project.root / ".venv/half-written"
    half.touch()
    hold.unlink()
    assert project.run("nocturn").returncode == 7
    assert not half.exists()


@pytest.mark.parametrize("lost", ["bin/python", "bin/nocturn"])
def test_an_environment_that_lost_a_part_is_mended(project: Project, lost: str) -> None:
    project.run("nocturn")
    (project.root / ".venv" / lost).unlink()
    assert project.run("nocturn").returncode == 7


def test_a_file_where_the_environment_should_be_is_replaced(project: Project) -> None:
    (project.root / ".venv").touch()
    assert project.run("nocturn").returncode == 7


def test_a_moved_project_does_not_use_the_environment_of_its_old_place(project: Project) -> None:
    project.run("nocturn")
    (project.root / ".venv/mine").touch()
    project.root = project.root.rename(project.root.with_name("moved"))
    assert project.run("nocturn").returncode == 7
    assert len(project.installs) == 2
    assert not (project.root / ".venv/mine").exists()


def test_a_python_that_is_too_old_or_only_looks_like_one_is_passed_over(project: Project) -> None:
    (project.path / "python3").rename(project.path / "python3.11")
    project.put("python3", "#!/usr/bin/env bash\nexit 1\n")
    project.put("python3.14", "#!/usr/bin/env bash\nexit 127\n")
    assert project.run("nocturn").returncode == 7


def test_python_files_in_the_folder_of_the_caller_are_not_run(
    project: Project, tmp_path: Path
) -> None:
    for name in ("fcntl", "tomllib", "venv", "ensurepip", "site", "encodings"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('mine')\n", encoding="utf-8")
    assert project.run("nocturn", cwd=tmp_path).returncode == 7


def test_without_a_python_it_says_so_and_makes_nothing(project: Project) -> None:
    (project.path / "python3").unlink()
    (project.path / "uv").unlink()
    ran = project.run("nocturn")
    assert (ran.returncode, ran.stdout) == (125, "")
    assert "Python 3.11" in ran.stderr
    assert not (project.root / ".venv").exists()


def test_a_failed_set_up_shows_why_and_can_be_tried_again(project: Project) -> None:
    # pip would step in; with the environment's Python broken as well, it can't.
    failure = '    echo no such index >&2; rm -- "$5"; exit 1\n    bin='
    project.put("uv", UV.replace("    bin=", failure))
    ran = project.run("nocturn")
    assert (ran.returncode, ran.stdout) == (125, "")
    assert "no such index" in ran.stderr
    project.put("uv", UV)
    assert project.run("nocturn").returncode == 7


def test_bench_lists_what_there_is_and_refuses_what_there_is_not(project: Project) -> None:
    (project.root / "scripts/benchmarks/mine.py").touch()
    listed = project.run("bench")
    assert (listed.returncode, listed.stderr) == (0, "")
    assert "mine" in listed.stdout.split()
    assert "measure" not in listed.stdout.split()
    assert project.run("bench", "measure").returncode == 2
    assert project.installs == []
