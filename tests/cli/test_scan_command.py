"""`nocturn scan`: names and places are said, values never; the exit status is for a hook."""

import json
import os
import secrets
import sys

import pytest

GITHUB = "ghp_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1z2A"
WARNS = "DROPBOX_TOKEN=z7fvrtsnb8atkzq"


@pytest.fixture
def nocturn(nocturn_here):
    """In this process, which is quicker; test_exit_statuses.py and others show one of its own."""
    return nocturn_here


@pytest.fixture
def value():
    return "kf-" + secrets.token_hex(20)


def test_a_clean_file_says_nothing(nocturn, tmp_path):
    (tmp_path / "a.md").write_text("see <task-notification>\n")
    done = nocturn("scan", "a.md")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert json.loads(nocturn("scan", "--json", "a.md").stdout) == []


def test_a_token_is_said_with_its_place_and_never_shown(nocturn, tmp_path):
    (tmp_path / "a.md").write_text(f"one\ntwo é {GITHUB}\n")
    done = nocturn("scan", "a.md")
    assert (done.returncode, done.stdout) == (3, "a.md:2:7: a GitHub token (github-token)\n")
    assert GITHUB[4:] not in done.stdout + done.stderr


def test_stdin_is_read_where_no_file_is_given(nocturn):
    for words in (["scan"], ["scan", "-"]):
        done = nocturn(*words, stdin=f"x {GITHUB}")
        assert (done.returncode, done.stdout) == (3, "<stdin>:1:3: a GitHub token (github-token)\n")


def test_json_says_the_same(nocturn):
    (row,) = json.loads(nocturn("scan", "--json", stdin=f"x {GITHUB}").stdout)
    assert row == {
        "file": "<stdin>",
        "what": "a GitHub token",
        "line": 1,
        "column": 3,
        "blocks": True,
        "rule": "github-token",
        "secret": "",
    }


def test_a_warning_fails_only_where_it_is_asked_to(nocturn):
    done = nocturn("scan", stdin=WARNS)
    assert (done.returncode, done.stdout) == (
        0,
        "<stdin>:1:15: warning: a Dropbox key (dropbox-key)\n",
    )
    assert nocturn("scan", "--strict", stdin=WARNS).returncode == 3


def test_a_value_of_the_vault_is_said_by_its_name(nocturn, value):
    assert nocturn("vault", "set", "API_KEY", stdin=value).returncode == 0
    done = nocturn("scan", stdin=f"a\nb {value}\n")
    assert (done.returncode, done.stdout) == (3, "<stdin>:2:3: the secret API_KEY\n")
    done = nocturn(
        "scan", "--secret-env", "OTHER", stdin="my-other-value-99", OTHER="my-other-value-99"
    )
    assert (done.returncode, done.stdout) == (3, "<stdin>:1:1: the secret OTHER\n")


def test_looking_creates_nothing(nocturn, tmp_path):
    assert nocturn("scan", stdin=GITHUB).returncode == 3
    assert not (tmp_path / "ws").exists()
    assert not (tmp_path / "data").exists()


def test_what_cannot_be_read_is_said_and_the_rest_is_read(nocturn, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "a.md").write_text(GITHUB)
    (tmp_path / "b.md").write_text("fine")
    done = nocturn("scan", "folder", "none.md", "b.md")
    assert (done.returncode, done.stdout) == (2, "")
    assert [line.split(" cannot")[0] for line in done.stderr.splitlines()] == [
        "nocturn: folder",
        "nocturn: none.md",
    ]
    done = nocturn("scan", "none.md", "a.md")
    assert (done.returncode, done.stdout) == (3, "a.md:1:1: a GitHub token (github-token)\n")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_the_right_to_read_it_is_unread(nocturn, tmp_path):
    (tmp_path / "a.md").write_text("x")
    (tmp_path / "a.md").chmod(0)
    assert nocturn("scan", "a.md").returncode == 2


@pytest.mark.parametrize(
    "data",
    [
        b"\x7fELF\0\0\xff\xfe\0" + GITHUB.encode() + b"\0\xff",
        b"\xef\xbb\xbfone " + GITHUB.encode(),
        ("one " + GITHUB).encode("utf-16"),
        b"\xfe\xff" + ("one " + GITHUB).encode("utf-16-be"),
        b"\xc3\x28 \xed\xa0\x80 " + GITHUB.encode(),
    ],
)
def test_binary_files_and_other_encodings_are_looked_through(nocturn, data):
    assert nocturn("scan", stdin=data).returncode == 3


def test_a_huge_file_is_read_to_its_end(nocturn, tmp_path):
    with open(tmp_path / "huge.txt", "w") as file:
        file.writelines("all work and no play\n" * 5_000 for _ in range(80))
        file.write(GITHUB)
    done = nocturn("scan", "huge.txt")
    assert done.stdout == "huge.txt:400001:1: a GitHub token (github-token)\n"


def test_a_secret_in_a_files_name_is_found_and_not_repeated(nocturn, tmp_path):
    (tmp_path / f"{GITHUB}.md").write_text("x")
    for words in (["scan", f"{GITHUB}.md"], ["scan", f"none/{GITHUB}.md"]):
        done = nocturn(*words)
        assert done.returncode == 3
        assert "in its name" in done.stdout
        assert GITHUB[4:] not in done.stdout + done.stderr


def test_a_name_that_would_move_the_cursor_is_shown_as_it_is(nocturn, tmp_path):
    (tmp_path / "a\x1b[2J\nb.md").write_text(GITHUB)
    done = nocturn("scan", "a\x1b[2J\nb.md")
    assert done.stdout.count("\n") == 1
    assert "\x1b" not in done.stdout


def test_a_comment_that_allows_it_does_not(nocturn):
    done = nocturn("scan", stdin=f"{GITHUB}  # gitleaks:allow  pragma: allowlist secret nosec\n")
    assert done.returncode == 3


def test_a_vault_that_cannot_be_opened_ends_the_scan(nocturn, tmp_path, value):
    assert nocturn("vault", "set", "A", stdin=value).returncode == 0
    (tmp_path / "ws/vault.enc").write_bytes(b"broken")
    assert nocturn("scan", stdin="x").returncode == 2


def test_the_whole_of_it_loads_no_pydantic(tmp_path, environment):
    import subprocess

    program = (
        "import sys; sys.argv = ['nocturn', 'scan', 'a.md']\n"
        "from nocturn.cli.main import main\n"
        "try: main()\n"
        "finally: print('pydantic' in sys.modules, 'sqlite3' in sys.modules, file=sys.stderr)"
    )
    (tmp_path / "a.md").write_text("x")
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        cwd=tmp_path,
        env=environment,
        check=False,
    )
    assert done.stderr.split() == [b"False", b"False"]
