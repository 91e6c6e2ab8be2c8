"""The wheel holds what a run needs, and works in an environment that has never seen this folder."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
REMEMBER = """\
console.log(JSON.stringify(nocturn.memory.write(
  "people/lina.md",
  "daughter, 7 years old",
  "Likes dinosaurs. Starts school in August.",
)));
"""
NOTE = b"""\
---
description: daughter, 7 years old
---
Likes dinosaurs. Starts school in August."""

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("hatchling") is None, reason="hatchling, which builds it, is missing"
)


def run(command: list[object], cwd: Path) -> subprocess.CompletedProcess[str]:
    outside = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "NOCTURN"))}
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=outside | {"HOME": str(cwd), "XDG_DATA_HOME": str(cwd / "data")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    built = run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], ROOT)
    assert built.returncode == 0, built.stderr
    (wheel,) = folder.glob("nocturn-*-py3-none-any.whl")
    return wheel


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of an environment with the wheel in it, and the dependencies lent to it."""
    if importlib.util.find_spec("ensurepip") is None:
        pytest.skip("ensurepip, which puts pip into a new environment, is missing")
    folder = tmp_path_factory.mktemp("clean")
    made = run([sys.executable, "-m", "venv", folder / "env"], folder)
    assert made.returncode == 0, made.stderr
    python = folder / "env/bin/python"
    install = ["-m", "pip", "install", "--no-index", "--no-deps", "--no-cache-dir", wheel]
    installed = run([python, *install], folder)
    assert installed.returncode == 0, installed.stderr
    (site,) = folder.glob("env/lib/python*/site-packages")
    # A folder that a .pth names has its own .pth files ignored, so our editable install stays out.
    lent = dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib")))
    (site / "lent.pth").write_text("\n".join(lent), encoding="utf-8")
    return python.parent


def test_the_wheel_holds_the_prelude_the_type_marker_and_the_license(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"nocturn/js/prelude.js", "nocturn/py.typed", "nocturn/__init__.py"} <= names
    assert {"nocturn/web/page/index.html", "nocturn/web/page/main.js"} <= names
    assert {"nocturn/guard/default.toml", "nocturn/guard/shapes.json"} <= names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_the_wheel_holds_nothing_but_the_package(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"nocturn"}
    assert not [name for name in names if "test_" in name or "/examples/" in name]


def test_the_prelude_in_the_wheel_is_the_one_in_the_project(wheel: Path) -> None:
    shipped = zipfile.ZipFile(wheel).read("nocturn/js/prelude.js")
    assert shipped == (ROOT / "js/prelude.js").read_bytes()


def test_an_editable_install_has_no_copy_of_the_prelude(tmp_path: Path) -> None:
    build = "from hatchling.build import build_editable as b; import sys; print(b(sys.argv[1]))"
    built = run([sys.executable, "-c", build, tmp_path], ROOT)
    assert built.returncode == 0, built.stderr
    names = zipfile.ZipFile(tmp_path / built.stdout.split()[-1]).namelist()
    assert "_nocturn.pth" in names
    assert not [name for name in names if name.endswith(".js")]


def test_the_installed_package_is_imported_from_the_environment(
    clean: Path, tmp_path: Path
) -> None:
    where = "import nocturn, sys; print(nocturn.__file__); print(sys.prefix)"
    shown = run([clean / "python", "-I", "-c", where], tmp_path)
    assert shown.returncode == 0, shown.stderr
    file, prefix = map(Path, shown.stdout.splitlines())
    assert file.is_relative_to(prefix)
    assert (file.parent / "js/prelude.js").is_file()


def test_the_installed_command_shows_its_help(clean: Path, tmp_path: Path) -> None:
    shown = run([clean / "nocturn", "--help"], tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert {"run", "eval", "memory", "tools"} <= set(shown.stdout.split())


def test_the_installed_command_writes_the_first_note(clean: Path, tmp_path: Path) -> None:
    (tmp_path / "remember.js").write_text(REMEMBER, encoding="utf-8")
    command = [clean / "nocturn", "run", "--watched", "--workspace", "ws", "remember.js"]
    ran = run(command, tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == {
        "path": "people/lina.md",
        "summary": "daughter, 7 years old",
        "bytesWritten": 84,
    }
    assert (tmp_path / "ws/memory/people/lina.md").read_bytes() == NOTE
