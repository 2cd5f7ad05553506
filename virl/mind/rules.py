"""`RuleMind`: a deterministic answer to every prompt, from lexicons. A baseline, and no model."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_jsonable_python

from virl.errors import BadInput, MindFailed
from virl.mind import walk_rules
from virl.mind.aria_rules import SearchQuestion, SuitQuestion, plan_search, rate_place
from virl.mind.base import Exchange, Ledger, Prompt, ReplyT
from virl.mind.day_estimates import estimate, plan_ungrounded, rate_scenery, tell
from virl.mind.day_questions import (
    AuditQuestion,
    DraftQuestion,
    EstimateQuestion,
    SceneryQuestion,
    TellingQuestion,
    UngroundedQuestion,
)
from virl.mind.day_rules import audit, draft
from virl.mind.decisions import PlaceQuestion, decide
from virl.mind.errand_rules import ErrandQuestion, list_errands
from virl.mind.lexicon import Lexicon, load_lexicon
from virl.mind.local_rules import (
    ChoiceQuestion,
    DestinationQuestion,
    DirectionsQuestion,
    find_query,
    pick_place,
    write_directions,
)
from virl.mind.navgpt_rules import (
    DrawingQuestion,
    InstructionQuestion,
    StepQuestion,
    SummaryQuestion,
    choose_viewpoint,
    draw,
    instruct,
    summarize_viewpoint,
)
from virl.mind.prompt import check_inputs
from virl.mind.question_rules import CheckQuestion, ChoicesQuestion, choose_wishes, judge_wishes
from virl.mind.replies import Reply
from virl.mind.streets import RoadQuestion, TypeQuestion, choose_place_type, choose_road
from virl.mind.summaries import ReviewQuestion, summarize
from virl.mind.velma_rules import ActionQuestion, LandmarkQuestion, choose_action, list_landmarks
from virl.mind.vivek_rules import HomeQuestion, WantsQuestion, list_wants, rate_home
from virl.platform.streetview import Image

Rule = Callable[[Mapping[str, object], Lexicon], Reply]


def _rule(question: Callable[[Any], Any], answer: Callable[[Any, Lexicon], Reply]) -> Rule:
    """Inputs checked against the type of a question, then answered."""
    return lambda inputs, lexicon: answer(question(inputs), lexicon)


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "hiro-place-type": _rule(TypeQuestion.model_validate, choose_place_type),
        "hiro-road": _rule(RoadQuestion.model_validate, choose_road),
        "hiro-summary": _rule(ReviewQuestion.model_validate, summarize),
        "hiro-decision": _rule(PlaceQuestion.model_validate, decide),
        "aria-search": _rule(SearchQuestion.model_validate, plan_search),
        "aria-rating": _rule(SuitQuestion.model_validate, rate_place),
        "vqa-choices": _rule(ChoicesQuestion.model_validate, choose_wishes),
        "vqa-check": _rule(CheckQuestion.model_validate, judge_wishes),
        "vivek-wants": _rule(WantsQuestion.model_validate, list_wants),
        "vivek-rating": _rule(HomeQuestion.model_validate, rate_home),
        "velma-action": _rule(ActionQuestion.model_validate, choose_action),
        "velma-landmarks": _rule(LandmarkQuestion.model_validate, list_landmarks),
        "navgpt-step": _rule(StepQuestion.model_validate, choose_viewpoint),
        "navgpt-summary": _rule(SummaryQuestion.model_validate, summarize_viewpoint),
        "local-destination": _rule(DestinationQuestion.model_validate, find_query),
        "local-choice": _rule(ChoiceQuestion.model_validate, pick_place),
        "local-directions": _rule(DirectionsQuestion.model_validate, write_directions),
        "ling-landmarks": _rule(walk_rules.LandmarkQuestion.model_validate, walk_rules.list_landmarks),
        "ling-action": _rule(walk_rules.ActionQuestion.model_validate, walk_rules.choose_action),
        "narrate-instruction": _rule(InstructionQuestion.model_validate, instruct),
        "narrate-drawing": _rule(DrawingQuestion.model_validate, draw),
        "peng-errands": _rule(ErrandQuestion.model_validate, list_errands),
        "diego-draft": _rule(DraftQuestion.model_validate, draft),
        "diego-revise": _rule(DraftQuestion.model_validate, draft),
        "diego-estimate": _rule(EstimateQuestion.model_validate, estimate),
        "diego-audit": _rule(AuditQuestion.model_validate, audit),
        "diego-listen": _rule(TellingQuestion.model_validate, tell),
        "diego-scenic": _rule(SceneryQuestion.model_validate, rate_scenery),
        "diego-ungrounded": _rule(UngroundedQuestion.model_validate, plan_ungrounded),
    }
)
"""The rule for each prompt, by the prompt's name."""


class RuleMind:
    """Answers prompts by rules: no key, no network, the same answer every time."""

    def __init__(self, lexicon: Lexicon | None = None) -> None:
        self._lexicon = lexicon or load_lexicon()
        self._ledger = Ledger()

    @property
    def name(self) -> str:
        """`"rules"`."""
        return "rules"

    @property
    def ledger(self) -> Ledger:
        """Where each exchange is written down."""
        return self._ledger

    def apart(self) -> "RuleMind":
        """The same rules with a ledger of their own, for work that runs side by side."""
        return RuleMind(self._lexicon)

    def ask(self, prompt: Prompt[ReplyT], *, images: Sequence[Image] = (), **inputs: object) -> ReplyT:  # noqa: ARG002
        """As `Mind.ask`; images are ignored.

        Raises:
            BadInput: an input is missing, is not the prompt's, or has the wrong shape.
            MindFailed: there is no rule for the prompt, or the rule finds no answer.
        """
        check_inputs(prompt, inputs)
        rule = RULES.get(prompt.name)
        if rule is None:
            raise MindFailed(
                f"the rules have no answer to prompt {prompt.name!r}: choose a model with --mind"
            )
        try:
            answer = rule(inputs, self._lexicon)
        except ValidationError as fault:
            raise BadInput(f"prompt {prompt.name!r}: {_first_fault(fault)}") from fault
        reply = prompt.reply.model_validate(answer.model_dump(), context=inputs)
        self._ledger.add(Exchange(prompt.name, self.name, to_jsonable_python(inputs), reply.model_dump()))
        return reply


def _first_fault(fault: ValidationError) -> str:
    first = fault.errors()[0]
    return f"input {'.'.join(map(str, first['loc']))}: {first['msg']}"
