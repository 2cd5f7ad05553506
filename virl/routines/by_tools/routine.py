"""The routine of characters that have `tools` and no routine: a mind decides what to do."""

from virl.agent.agent import Agent
from virl.agent.character import Character
from virl.agent.routine import Wish
from virl.mind.base import Mind
from virl.mind.lexicon import Lexicon
from virl.mind.script import ScriptMind
from virl.mind.understanding import Reading
from virl.routines.by_tools.acting import act
from virl.routines.by_tools.deciding import check_script
from virl.routines.by_tools.policy.goals import not_done, read_goal, words_of_goal
from virl.routines.by_tools.policy.turns import check_tools


def _read_intention(character: Character, lexicon: Lexicon) -> Reading:
    """Read the goal, and the words of the intention that the plan for it acts on."""
    goal = read_goal(character, lexicon)
    check_tools(character, goal)
    used = tuple(words_of_goal(character, goal, lexicon))
    return Reading(character.intention, used, (character.name,), "tools", not_done(goal))


WISH = Wish(_read_intention)


def check_mind(character: Character, mind: Mind) -> None:
    """Check that a script fits the tools, or that a model is a chat model.

    Raises:
        BadInput: the script does not fit.
        MindFailed: the model is no chat model.
    """
    from virl.mind.llm import LLMMind  # noqa: PLC0415 - LangChain takes a second to import

    if isinstance(mind, ScriptMind):
        check_script(mind, character)
    elif isinstance(mind, LLMMind):
        _ = mind.chat_model  # raises where it is none


def run(agent: Agent) -> None:
    """Use the character's tools until the intention is fulfilled or a limit is reached."""
    act(agent)
