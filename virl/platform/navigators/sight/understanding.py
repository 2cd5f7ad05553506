"""From what a walker is told, or shown, to what it looks for."""

from collections.abc import Sequence

from virl.mind.base import Mind
from virl.mind.prompt import OUR_PROMPTS, Prompts
from virl.platform.city.streetview import Image, view_of_picture
from virl.platform.city.weekly_hours import Moment
from virl.platform.navigators.sight.goal import SightGoal
from virl.platform.navigators.sight.looking import SignLooks
from virl.platform.navigators.sight.rules import Sought
from virl.platform.navigators.tourist.signs import Sign, signs_of


def goal_in_words(
    task: str,
    mind: Mind,
    kinds: Sequence[str],
    prompts: Prompts = OUR_PROMPTS,
    moment: Moment | None = None,
) -> SightGoal:
    """Return the goal of a task in words, as a mind reads it.

    Args:
        task: such as `Find the place called "Dubliner".`, or a wish.
        mind: reads it.
        kinds: place types that signs can tell of.
        prompts: where the prompt is looked for.
        moment: the time, for rules; models read it in the task.

    Raises:
        MindFailed: the mind finds nothing to look for.
    """
    prompt = prompts.load("movement/sight-goal", Sought)
    sought = mind.ask(prompt, rule_inputs={"moment": moment}, task=task, kinds=sorted(kinds))
    return SightGoal(task, sought.name, sought.kinds, sought.beside, moment)


def goal_in_picture(picture: Image, task: str, looks: SignLooks) -> SightGoal:
    """Return the goal that a picture of a front shows: the words of its largest sign.

    Args:
        picture: of a front.
        task: as it was told.
        looks: reads signs.
    """
    signs = list(signs_of(view_of_picture(picture).camera, looks.reader.read([picture])[0]))
    text = max(signs, key=_box_area).text if signs else ""
    return SightGoal(task, text, looks.kinds_of(text))


def _box_area(sign: Sign) -> float:
    """Return the area of a sign's box, square pixels."""
    left, top, right, bottom = sign.box
    return (right - left) * (bottom - top)
