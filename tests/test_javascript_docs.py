"""What docs/javascript.md shows, runs, and prints and is what it says."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs/javascript.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```(js|ts)\n(.*?)```", PAGE, re.DOTALL)


def test_the_page_has_examples_of_both_languages():
    assert [lang for lang, _ in EXAMPLES].count("js") >= 8
    assert "ts" in [lang for lang, _ in EXAMPLES]


@pytest.mark.parametrize(
    ("lang", "source"), EXAMPLES, ids=[str(number) for number in range(len(EXAMPLES))]
)
def test_an_example_prints_and_is_what_stands_behind_its_arrows(nocturn_workspace, lang, source):
    ws = nocturn_workspace()
    result = ws.run(source, lang=lang, mode="watched").raise_for_error()
    value = result.value
    told = [line.text for line in result.console]
    if not told:
        told = [value if isinstance(value, str) else json.dumps(value)]
    assert told == re.findall(r"// → (.*)$", source, re.MULTILINE)
