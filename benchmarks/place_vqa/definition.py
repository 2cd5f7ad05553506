"""The place VQA benchmark: a question each, asked with its options in four orders, and who answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from virl.bench.benchmark import Benchmark, Metric, Scores, Shown, ShownView, Tally
from virl.bench.city_data import CityOptions, city_data
from virl.bench.episode import Episode, EpisodeResult, Record
from virl.bench.metrics.places import (
    LETTERS,
    MappedLetter,
    legacy_letter,
    rotations,
    strict_letter,
)
from virl.bench.records import jpeg, photo_view, read_photo
from virl.bench.resources import Resources, cost_of, is_model
from virl.errors import MindFailed, UnknownName
from virl.journal.story import words
from virl.mind.base import Mind
from virl.mind.prompt import load_prompt, render
from virl.mind.replies import Text
from virl.platform.city.streetview import Image
from virl.platform.perception.models import Models, model_names
from virl.platform.providers.cities import title_of_city
from virl.registry import first_line

from .published import PUBLISHED

_SIGNS = "signs"
"""Name of the baseline that reads the photo's signs and takes the option that suits their type of place."""
Ask = Callable[[str, Sequence[str]], str]
"""A function from a question and its options to the reply."""
Cost = Callable[[], Mapping[str, float]]
"""A function that returns the usage of a mind since the photo was shown, by name."""
Answerer = Callable[[Image], tuple[Ask, Cost]]
"""A function from a photo to (function to ask about it, function for the usage so far)."""
METRICS = (
    Metric(
        "circular",
        "mean accuracy",
        by_group=True,
        shares="A question on a place of k types counts 1/k in each.",
        about="over place types, right in all four orders",
    ),
    Metric(
        "legacy",
        "legacy mean accuracy",
        about="right in all orders, replies read as V-IRL does",
    ),
    Metric("first", "first round", about="questions right in the first order"),
)
"""`circular` as V-IRL defines it, with the strict reading of replies; `legacy` with that of the published
code, which credits replies that only begin with the right letter, and asks a chat model what others mean
(`--parser`); `first` is accuracy in the first round."""


class Options(CityOptions):
    """Options of place VQA."""

    models: tuple[str, ...] = ("signs",)
    """The answerers: `signs`, chat models such as `openai:gpt-5-mini`, or describers (see `virl models`)."""
    parser: str = ""
    """Chat model that says what a reply without a letter means, for `legacy`; by default none is asked."""


@dataclass(frozen=True, slots=True)
class QuestionsWorld:
    """The answerers, by model's name, and the parser of replies that all episodes of a run share."""

    answerers: Mapping[str, Answerer]
    parser: Callable[[], Mind] | None = None
    """Function that opens the chat model that reads replies; `None` if none is asked."""


def episodes(options: Options, resources: Resources) -> list[Episode]:
    """Return an episode for each question of each city, for each model."""
    return [
        Episode(
            asked.id,
            name,
            model,
            {
                "question": asked.question,
                "types": list(asked.types),
                "options": list(asked.options),
                "answer": asked.answer,
                "name": names.get(asked.id, ""),
                "image": str(data.image(asked.image)),
            },
            attribution=data.card.attribution,
        )
        for name in options.cities
        for data in (city_data(options, name, resources, needs="questions"),)
        for names in ({place.id: place.name for place in data.places},)
        for asked in data.questions
        for model in options.models
    ]


def prepare(options: Options, resources: Resources) -> QuestionsWorld:
    """Return the opened answerers and parser."""
    if options.parser:
        resources.mind(options.parser)  # what is missing is told before the first question
    parser = partial(resources.mind, options.parser) if options.parser else None
    return QuestionsWorld({model: open_answerer(model, resources) for model in options.models}, parser)


def run(episode: Episode, world: QuestionsWorld) -> EpisodeResult:
    """Ask the question in four orders, until a reply is wrong by both readings; return the replies.

    No usable reply is a wrong one.
    """
    asked = episode.payload
    image = read_photo(asked["image"])
    ask, cost = world.answerers[episode.model](image)
    replies: list[str] = []
    mapped: list[str] = []
    parser = world.parser() if world.parser else None
    failure: MindFailed | None = None
    for options, right in rotations(asked["options"], asked["answer"]):
        try:
            replies.append(ask(asked["question"], options))
        except MindFailed as fault:
            failure = fault
            replies.append("")
            break
        mapped.append(_map_reply(parser, asked["question"], options, replies[-1], right))
        strict, legacy = (
            _rounds(asked["options"], asked["answer"], replies, way, mapped) for way in (False, True)
        )
        if not all(strict) and not all(legacy):
            break
    data = {key: asked[key] for key in ("question", "types", "options", "answer", "name")} | {
        "replies": replies
    }
    if parser:
        data["mapped"] = mapped
    return EpisodeResult(data, {"photo.jpg": jpeg(image)}, _add_cost(cost(), parser), failure)


def score(records: Sequence[Record], options: Options) -> Scores:  # noqa: ARG001 - as the contract says
    """Return accuracy over types, a question right if all rounds are; k types weigh 1/k (section 5.3)."""
    tallies: dict[str, list[Tally]] = {"circular": [], "legacy": [], "first": []}
    silent = 0
    for record in records:
        data = record.data
        strict, legacy = (
            _rounds(data["options"], data["answer"], data["replies"], way, data.get("mapped", ()))
            for way in (False, True)
        )
        share = 1 / len(data["types"])
        for key, rounds in (("circular", strict), ("legacy", legacy)):
            right = len(rounds) == len(LETTERS) and all(rounds)
            tallies[key] += [Tally(record.case, right * share, share, kind) for kind in data["types"]]
        tallies["first"].append(Tally(record.case, float(strict[0])))
        silent += strict_letter(data["replies"][0]) is None
    notes = [
        f"{one.model}, {title_of_city(one.city)}: {silent} of {len(records)} first replies "
        "choose no letter: wrong"
        for one in records[:1]
        if silent
    ]
    return Scores(tallies, notes=notes)


def show(record: Record) -> Shown:
    """Return the contents of a question's page: photo, question, and the reply of each round."""
    data = record.data
    rounds = _rounds(data["options"], data["answer"], data["replies"], legacy=False)
    right = len(rounds) == len(LETTERS) and all(rounds)
    return Shown(
        "right in all rounds" if right else f"wrong in round {rounds.index(False) + 1}",
        float(right),
        data["question"],
        tuple(
            (f"{LETTERS[number]}{', right' if number == data['answer'] else ''}", option)
            for number, option in enumerate(data["options"])
        ),
        tuple(ShownView(file) for file in record.files),
        tuple((f"round {number}", reply) for number, reply in enumerate(data["replies"], start=1)),
        title=data.get("name") or words(data["types"][0]).capitalize(),
    )


def _map_reply(parser: Mind | None, question: str, options: Sequence[str], reply: str, right: int) -> str:
    """Return the letter that the parser reads in a reply; empty if it is not asked. `right`: from 0."""
    if parser is None or legacy_letter(reply, LETTERS[right]) is not None:
        return ""
    prompt = load_prompt("vqa/letter", MappedLetter)
    return parser.ask(prompt, question=question, options=list(options), reply=reply).letter


def _add_cost(cost: Mapping[str, float], parser: Mind | None) -> Mapping[str, float]:
    """Return the cost by name, with that of the parser added, if there is one."""
    if parser is None:
        return cost
    more = cost_of(parser.ledger.take_asked())
    return {key: cost.get(key, 0.0) + more.get(key, 0.0) for key in {*cost, *more}}


def _rounds(
    options: Sequence[str], answer: int, replies: Sequence[str], legacy: bool, mapped: Sequence[str] = ()
) -> list[bool]:
    """Return whether each round was right, up to the first wrong one, strictly or by the `legacy` reading."""
    rounds = []
    for number, (reply, (_, right)) in enumerate(zip(replies, rotations(options, answer), strict=False)):
        read = mapped[number] if number < len(mapped) else ""
        letter = legacy_letter(reply, LETTERS[right], read) if legacy else strict_letter(reply)
        rounds.append(letter == LETTERS[right])
        if not rounds[-1]:
            break
    return rounds


BENCHMARK = Benchmark(
    name="place-vqa",
    title="Place VQA",
    about=first_line(__name__),
    options=Options,
    episodes=episodes,
    prepare=prepare,
    run=run,
    score=score,
    show=show,
    metrics=METRICS,
    units="questions",
    headline="legacy",
    published=PUBLISHED,
    mind_option="models",
    typical_s=1.9,
    work="threads",
)


def open_answerer(name: str, resources: Resources) -> Answerer:
    """Return the answerer `signs`, of a chat model, or of a describer in `platform/models`.

    Raises:
        UnknownName: there is no such model.
        ModelUnavailable: it cannot be loaded or asked.
    """
    if name == _SIGNS:
        return _sign_answerer(resources)
    if ":" in name:
        resources.mind(name)  # what is missing is told before the first question
        return lambda image: _mind_on(resources.mind(name), image)
    if not is_model("describer", name):
        raise UnknownName("answerer", name, [_SIGNS, "PROVIDER:MODEL", *model_names("describer")])
    describer = resources.describer(name)
    prompt = load_prompt("vqa/answer", Text)

    def open_photo(image: Image) -> tuple[Ask, Cost]:
        """Return (function to ask the describer about the photo, function for its cost: none)."""

        def ask(question: str, options: Sequence[str]) -> str:
            """Return the describer's reply to a question with its options."""
            return describer.describe(
                [photo_view(image)], render(prompt, {"question": question, "options": list(options)})
            )[0]

        return ask, dict

    return open_photo


def _mind_on(mind: Mind, image: Image) -> tuple[Ask, Cost]:
    """Return (function that asks a mind about a picture, function for the mind's usage)."""
    prompt = load_prompt("vqa/answer", Text)

    def ask(question: str, options: Sequence[str]) -> str:
        """Return the mind's reply to a question with its options."""
        return mind.ask(prompt, images=[image], question=question, options=list(options)).text

    return ask, lambda: cost_of(mind.ledger.take_asked())


def _sign_answerer(resources: Resources) -> Answerer:
    """Return the answerer that finds a sign in the photo, and the option that suits its type."""
    detector, lexicon = resources.detector("sign-detector"), Models().lexicon("sign-lexicon")

    def open_photo(image: Image) -> tuple[Ask, Cost]:
        """Return (function to ask about the sign in the photo, function for its cost: none)."""
        boxes = detector.detect([photo_view(image)], lexicon.place_types)[0]
        found = max(boxes, key=lambda one: one.score, default=None)

        def ask(question: str, options: Sequence[str]) -> str:  # noqa: ARG001 - there is one question
            """Return the letter of the one option that suits the sign's type, or that there is none."""
            if found is None:
                return "I can read no sign."
            told = [lexicon.classify(option).get(found.label, 0.0) for option in options]
            best = max(told)
            return "ABCD"[told.index(best)] if best > 0 and told.count(best) == 1 else "I cannot tell."

        return ask, dict

    return open_photo
