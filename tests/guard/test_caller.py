from __future__ import annotations

import pytest

from nocturn.errors import BAD_ARGUMENTS, NocturnError
from nocturn.guard.caller import agent_of


def test_a_given_name_is_the_agent():
    assert agent_of("lina-bot", "1+1") == ("lina-bot", True)


def test_a_nameless_script_is_known_by_its_hash():
    agent, named = agent_of(None, "1+1")
    assert not named
    assert agent.startswith("script:")
    assert len(agent) == len("script:") + 16
    assert agent == agent_of(None, "1+1")[0]
    assert agent != agent_of(None, "1+2")[0]


def test_a_name_cannot_pose_as_a_script():
    with pytest.raises(NocturnError) as refused:
        agent_of(agent_of(None, "1+1")[0], "1+1")
    assert refused.value.code == BAD_ARGUMENTS


def test_a_source_with_lone_surrogates_has_an_identity():
    assert agent_of(None, "'\ud800'")[0].startswith("script:")
