import re
from pathlib import Path

import pytest
from langchain_core.language_models import FakeListChatModel

from virl.mind import base
from virl.mind.base import chats
from virl.mind.llm import LLMMind
from virl.mind.rules import RuleMind
from virl.mind.script import Script, ScriptMind

ROOT = Path(__file__).parents[2]
ABILITIES = (base.ChatMind, base.ConfiguredMind, base.DescribedMind, base.SteeredMind, base.AudibleMind)


@pytest.mark.slow
def test_a_language_model_has_all_abilities_of_minds():
    mind = LLMMind(FakeListChatModel(responses=[]), "fake:model")
    assert all(isinstance(mind, ability) for ability in (base.Mind, *ABILITIES))
    assert chats(mind)


@pytest.mark.parametrize("mind", [RuleMind(), ScriptMind(Path("none.yaml"), Script())])
def test_rules_and_scripts_are_minds_with_no_further_ability(mind):
    assert isinstance(mind, base.Mind)
    assert not any(isinstance(mind, ability) for ability in ABILITIES)
    assert not chats(mind)


def test_no_member_of_a_mind_is_guessed():
    guess = re.compile(r"\b(?:getattr|hasattr)\((?:\w+\.)*_?mind\b")
    files = (ROOT / "virl").rglob("*.py")
    assert [file for file in files if guess.search(file.read_text("utf-8"))] == []
