"""Who answers the questions: chat models, describers, and a baseline that reads signs."""

from collections.abc import Callable, Mapping, Sequence

from virl.bench.model_roles import is_model
from virl.bench.pictures import photo_view
from virl.bench.resources import Resources, cost_of
from virl.errors import UnknownName
from virl.mind.base import Mind
from virl.mind.prompt import load_prompt
from virl.mind.rendering import render
from virl.mind.replies import Text
from virl.platform.perception.models import Models, model_names
from virl.platform.streetview import Image

SIGNS = "signs"
"""The baseline: reads the photo's signs and takes the option whose words tell of the same type of place."""

Ask = Callable[[str, Sequence[str]], str]
"""Given the question and the options, the reply."""
Cost = Callable[[], Mapping[str, float]]
"""What was spent since the photo was shown."""
Answerer = Callable[[Image], tuple[Ask, Cost]]
"""Shown a photo, it can be asked about it."""


def open_answerer(name: str, resources: Resources) -> Answerer:
    """Who answers: `signs`, a chat model such as `openai:gpt-5-mini`, or a describer in `platform/models`.

    Raises:
        UnknownName: there is no such model.
        ModelUnavailable: it cannot be loaded or asked.
    """
    if name == SIGNS:
        return _signs(resources)
    if ":" in name:
        resources.mind(name)  # what is missing is told before the first question
        return lambda image: _mind(resources.mind(name), image)
    if not is_model("describer", name):
        raise UnknownName("answerer", name, [SIGNS, "PROVIDER:MODEL", *model_names("describer")])
    describer = resources.describer(name)
    prompt = load_prompt("vqa/answer", Text)

    def shown(image: Image) -> tuple[Ask, Cost]:
        def ask(question: str, options: Sequence[str]) -> str:
            return describer.describe(
                [photo_view(image)], render(prompt, {"question": question, "options": list(options)})
            )[0]

        return ask, dict

    return shown


def _mind(mind: Mind, image: Image) -> tuple[Ask, Cost]:
    prompt = load_prompt("vqa/answer", Text)

    def ask(question: str, options: Sequence[str]) -> str:
        return mind.ask(prompt, images=[image], question=question, options=list(options)).text

    return ask, lambda: cost_of(mind.ledger.take_asked())


def _signs(resources: Resources) -> Answerer:
    detector, lexicon = resources.detector("sign-detector"), Models().lexicon("sign-lexicon")

    def shown(image: Image) -> tuple[Ask, Cost]:
        boxes = detector.detect([photo_view(image)], lexicon.place_types)[0]
        found = max(boxes, key=lambda one: one.score, default=None)

        def ask(question: str, options: Sequence[str]) -> str:  # noqa: ARG001 - there is one question
            if found is None:
                return "I can read no sign."
            told = [lexicon.classify(option).get(found.label, 0.0) for option in options]
            best = max(told)
            return "ABCD"[told.index(best)] if best > 0 and told.count(best) == 1 else "I cannot tell."

        return ask, dict

    return shown
