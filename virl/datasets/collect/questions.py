"""Makes the questions of place VQA: what may somebody want that this place fulfils (V-IRL, section 5.3)?

Four wishes, written by a mind from the place's types, one of them right. A question is kept only if its
options are of fair length, tell nothing of the place's name, and a second look finds that one alone right.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from random import Random

from virl.datasets.collect.dataset import PlaceRow, QuestionRow
from virl.datasets.collect.places import Progress
from virl.datasets.collect.replies import PlaceChoices, Served
from virl.datasets.collect.rows import Row, Rows
from virl.errors import MindFailed, VirlError
from virl.mind.base import Mind, Prompt
from virl.mind.prompt import load_prompt

QUESTION = "Which of these people would find what they want at the place in the photo?"
TRIES = 3  # chosen
AT_ONCE = 8  # chosen: questions in the making side by side; the mind keeps its own rate limit
LEFT_OUT = "unasked.jsonl"


class UnaskedRow(Row):
    """A place that no question was made of; its id is the place's."""

    reason: str


def make_questions(
    places: Sequence[PlaceRow],
    questions: Rows[QuestionRow],
    unasked: Rows[UnaskedRow],
    mind: Mind,
    *,
    seed: int,
    progress: Progress,
) -> None:
    """Make a question of every place with an image that has none yet.

    Args:
        places: of the data set.
        questions: where they go.
        unasked: where places go that no question could be made of.
        mind: writes and checks them.
        seed: of the order of the options.
        progress: is told how far it is.

    Raises:
        ModelUnavailable: the mind cannot be reached.
        BudgetExceeded: the budget is spent; what was made is kept, also what was under way.
    """
    wanted = [place for place in places if place.image]
    left = [place for place in wanted if place.id not in questions and place.id not in unasked]
    faults: list[VirlError] = []
    for place, making in _in_order(left, mind, seed, stopped=lambda: bool(faults)):
        progress("making questions", len(questions) + len(unasked), len(wanted))
        try:
            questions.add(making.result())
        except MindFailed as failed:
            unasked.add(UnaskedRow(id=place.id, reason=str(failed)))
        except VirlError as broken:
            faults.append(broken)
    if faults:
        raise faults[0]


def _in_order(
    places: Iterable[PlaceRow], mind: Mind, seed: int, *, stopped: Callable[[], bool]
) -> Iterator[tuple[PlaceRow, Future[QuestionRow]]]:
    """Questions made side by side until stopped, in the order of the places."""
    under_way: deque[tuple[PlaceRow, Future[QuestionRow]]] = deque()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for place in places:
            if stopped():
                break
            under_way.append((place, pool.submit(_question, place, mind.apart(), seed)))
            if len(under_way) == AT_ONCE:
                yield under_way.popleft()
        yield from under_way


def _question(place: PlaceRow, mind: Mind, seed: int) -> QuestionRow:
    """A question with one right answer.

    Raises:
        MindFailed: none came of three tries.
    """
    ask, check = load_prompt("vqa/choices", PlaceChoices), load_prompt("vqa/check", Served)
    faults = ""
    for _ in range(TRIES):
        choices = mind.ask(ask, name=place.name, types=list(place.types), question=QUESTION, faults=faults)
        order = [0, 1, 2, 3]
        Random(f"{seed} {place.id}").shuffle(order)
        options = tuple(choices.options[number] for number in order)
        faults = _fault(place, mind, check, options, order.index(0))
        if not faults:
            return QuestionRow(
                id=place.id,
                question=QUESTION,
                types=place.types,
                options=(options[0], options[1], options[2], options[3]),
                answer=order.index(0),
                image=place.image or "",
            )
    raise MindFailed(f"no question of {place.name} with one right answer in {TRIES} tries: {faults}")


def _fault(place: PlaceRow, mind: Mind, check: Prompt[Served], options: Sequence[str], answer: int) -> str:
    """What a second look says against a question; empty if the right answer alone is right."""
    served = mind.ask(check, types=list(place.types), options=list(options)).served
    if answer not in served:
        return f"the place does not fulfil {options[answer]!r}"
    others = [options[number] for number in served if number != answer]
    return f"the place also fulfils {others[0]!r}" if others else ""
