"""Links from note to note: which texts are links, and which lead somewhere."""

import pytest

from nocturn.store.linking import NoteNames, links_in


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("[a](tom.md) and [b](<a b.md>)", ["tom.md", "a b.md"]),
        ("[a](people/tom.md#age) [[lina]] [[people/lina|her]]", None),
        ('[a](a%20b.md "a title")', ["a b.md"]),
        ("![image](a.png) [web](https://x.org/a.md) [mail](mailto:a@b.md) [place](#a.md)", []),
        ("[[photo.png]] [[]] []() [x] (a.md)", []),
        ("`[a](code.md)` [b](b.md)", ["b.md"]),
        ("```\n[a](code.md)\n```\n[b](b.md)\n~~~\n```\n[c](c.md)\n~~~", ["b.md"]),
    ],
)
def test_what_is_a_link_to_a_note(text, targets):
    if targets is None:
        targets = ["people/tom.md", "lina", "people/lina"]
    assert [target for _, target in links_in(text)] == targets


def test_a_link_has_its_line():
    assert list(links_in("\n\n[a](a.md)\n[[b]]")) == [(3, "a.md"), (4, "b")]


@pytest.mark.parametrize("text", ["[" * 65_536, "[[" * 30_000, "[a](" * 15_000, "`[" * 30_000])
def test_a_hostile_text_takes_no_longer_than_it_is_long(text):
    assert list(links_in(text)) == []


@pytest.mark.parametrize(
    ("target", "there"),
    [
        ("tom.md", True),
        ("people/tom.md", True),
        ("../a.md", True),
        ("/a.md", True),
        ("TOM", True),
        ("cafe\u0301.md", True),
        ("deep", True),
        ("a.md", True),
        ("x/deep.md", False),
        ("nobody", False),
        ("../../a.md", False),
    ],
)
def test_where_a_link_leads(target, there):
    names = NoteNames(["a.md", "people/tom.md", "people/lina.md", "caf\u00e9.md", "b/c/deep.md"])
    assert names.have(target, "people/lina.md") is there
