"""`nocturn memory import|export|check` and `nocturn backup`, as a person uses them."""

import json


def test_notes_come_in_and_go_out(nocturn_here, tmp_path):
    (tmp_path / "vault/.obsidian").mkdir(parents=True)
    (tmp_path / "vault/lina.md").write_text("# Lina\n")
    (tmp_path / "vault/a\x1b[31m.md").write_text("x")
    done = nocturn_here("memory", "import", "vault", "--prefix", "people", "--watched")
    assert (done.returncode, done.stdout) == (0, "1 written, 7 bytes; 2 skipped\n")
    assert "skipped a\\x1b[31m.md: " in done.stderr
    assert "skipped .obsidian: " in done.stderr
    again = nocturn_here("memory", "import", "vault", "--prefix", "people", "--watched", "--json")
    assert json.loads(again.stdout)["unchanged"] == 1

    out = nocturn_here("memory", "export", "notes.jsonl")
    assert (out.returncode, out.stdout.split()[0]) == (0, "1")
    row = json.loads((tmp_path / "notes.jsonl").read_text())
    assert row == {"path": "people/lina.md", "text": "# Lina\n"}
    told = nocturn_here("memory", "export", "out", "--json")
    assert json.loads(told.stdout)["written"] == 1
    (tmp_path / "out/people/lina.md").write_text("mine")
    assert nocturn_here("memory", "export", "out").returncode == 1
    assert nocturn_here("memory", "export", "out", "--replace").returncode == 0


def test_an_import_that_nobody_allows_leaves_nothing(nocturn_here, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"path": "a.md", "text": "x"}\n')
    refused = nocturn_here("memory", "import", "a.jsonl", "--strict")
    assert refused.returncode == 3
    dry = nocturn_here("memory", "import", "a.jsonl", "--watched", "--dry-run")
    assert "+x" in dry.stdout
    assert "1 would be written" in dry.stdout
    (tmp_path / "a.jsonl").write_text('{"path": "a.md"}\n')
    broken = nocturn_here("memory", "import", "a.jsonl", "--watched")
    assert (broken.returncode, "line 1" in broken.stderr) == (1, True)
    assert not (tmp_path / "ws").exists()


def test_a_check_says_what_to_do_and_its_status_whether_something_remains(nocturn_here, tmp_path):
    nocturn_here("memory", "write", "--watched", "a.md", "s", "see [[nobody]]")
    nocturn_here("memory", "write", "--watched", "b.md", "s", "x")
    (tmp_path / "ws/memory/b.md").chmod(0o644)
    found = nocturn_here("memory", "check")
    assert found.returncode == 1
    assert [line.split()[:2] for line in found.stdout.splitlines()] == [
        ["a.md", "link"],
        ["b.md", "mode"],
    ]
    (tmp_path / "ws/memory/a.md").unlink()
    mended = nocturn_here("memory", "check", "--fix")
    assert (mended.returncode, "mended" in mended.stdout) == (0, True)
    clean = nocturn_here("memory", "check", "--json")
    assert (clean.returncode, json.loads(clean.stdout)) == (0, [])


def test_there_is_no_backup_of_a_workspace_that_is_not_there(nocturn_here, tmp_path):
    done = nocturn_here("backup", "b.zip", "--workspace", "misspelt")
    assert (done.returncode, "misspelt" in done.stderr) == (1, True)
    assert list(tmp_path.glob("*.zip")) == []


def test_a_workspace_goes_into_a_file_and_comes_back_without_its_permissions(nocturn_here):
    nocturn_here("memory", "write", "--watched", "a.md", "s", "x")
    nocturn_here("grants", "add", "bob", "write", "a.md")
    assert nocturn_here("backup", "b.zip").returncode == 0
    assert nocturn_here("backup", "b.zip").returncode == 1
    assert nocturn_here("backup", "b.zip", "--force").returncode == 0
    full = nocturn_here("backup", "--restore", "b.zip")
    assert full.returncode == 1
    back = nocturn_here("backup", "--restore", "b.zip", "--workspace", "new", "--json")
    assert back.returncode == 0
    assert json.loads(back.stdout)["files"] >= 3
    assert nocturn_here("memory", "show", "a.md", "--workspace", "new").stdout.endswith("x\n")
    words = ("memory", "write", "--strict", "--agent", "bob", "a.md", "s", "y")
    assert nocturn_here(*words).returncode == 0
    assert nocturn_here(*words, "--workspace", "new").returncode == 2
