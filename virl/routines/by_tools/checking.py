"""Whether a mind can use a character's tools for what it wants, seen before a run begins."""

from virl.agent.character import Character
from virl.mind.base import Mind
from virl.mind.rules import RuleMind
from virl.mind.script import ScriptMind


def check(character: Character, mind: Mind) -> None:
    """See whether the rules understand the intention, a script fits the tools, or a model is a chat model.

    Raises:
        BadInput: it is not so; says why.
        MindFailed: the model is no chat model.
    """
    from virl.mind.llm import LLMMind  # noqa: PLC0415 - LangChain takes a second to import

    if isinstance(mind, RuleMind):
        from virl.routines.by_tools.policy.goals import read_goal  # noqa: PLC0415
        from virl.routines.by_tools.policy.turns import check_tools  # noqa: PLC0415

        check_tools(character, read_goal(character))
    elif isinstance(mind, ScriptMind):
        from virl.routines.by_tools.deciding import check_script  # noqa: PLC0415

        check_script(mind, character)
    elif isinstance(mind, LLMMind):
        _ = mind.chat_model  # raises where it is none
