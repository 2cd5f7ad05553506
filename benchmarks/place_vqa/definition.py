"""The episodes of place VQA: a question each, asked with its options in four orders."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from virl.bench.benchmark import (
    Benchmark,
    Episode,
    EpisodeResult,
    Metric,
    Record,
    Scores,
    Shown,
    ShownView,
    Tally,
)
from virl.bench.city_data import CityOptions, city_data
from virl.bench.metrics.choices import LETTERS, legacy_letter, rotations, strict_letter
from virl.bench.photos import read_photo
from virl.bench.pictures import jpeg
from virl.bench.resources import Resources

from .answerers import Answerer, open_answerer
from .published import PUBLISHED

METRICS = (
    Metric(
        "circular",
        "mAcc",
        by_group=True,
        about="mean over place types, right in all four orders",
    ),
    Metric("legacy", "mAcc, legacy parse"),
    Metric("first", "first round"),
)
"""`circular` as V-IRL defines it, with the strict reading of replies; `legacy` with that of the published
code, which credits replies that only begin with the right letter; `first` is accuracy in the first round."""


class Options(CityOptions):
    """What place VQA is asked."""

    models: tuple[str, ...] = ("signs",)
    """Who answers: `signs`, chat models such as `openai:gpt-5-mini`, or describers (see `virl models`)."""


@dataclass(frozen=True, slots=True)
class QuestionsWorld:
    """What episodes share."""

    answerers: Mapping[str, Answerer]


def episodes(options: Options, resources: Resources) -> list[Episode]:
    """A question each."""
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
                "image": str(data.image(asked.image)),
            },
            attribution=data.card.attribution,
        )
        for name in options.cities
        for data in (city_data(options, name, resources, needs="questions"),)
        for asked in data.questions
        for model in options.models
    ]


def prepare(options: Options, resources: Resources) -> QuestionsWorld:
    """Opens the models."""
    return QuestionsWorld({model: open_answerer(model, resources) for model in options.models})


def run(episode: Episode, world: QuestionsWorld) -> EpisodeResult:
    """Ask round by round, until the reply is wrong however it is read, or all four are given."""
    asked = episode.payload
    image = read_photo(asked["image"])
    ask, cost = world.answerers[episode.model](image)
    replies: list[str] = []
    for options, _ in rotations(asked["options"], asked["answer"]):
        replies.append(ask(asked["question"], options))
        strict, legacy = (_rounds(asked["options"], asked["answer"], replies, way) for way in (False, True))
        if not all(strict) and not all(legacy):
            break
    data = {key: asked[key] for key in ("question", "types", "options", "answer")} | {"replies": replies}
    return EpisodeResult(data, {"photo.jpg": jpeg(image)}, cost())


def score(records: Sequence[Record], options: Options) -> Scores:  # noqa: ARG001 - as the contract says
    """A question is right if all four rounds are; its place's k types weigh 1/k each (V-IRL, section 5.3)."""
    tallies: dict[str, list[Tally]] = {"circular": [], "legacy": [], "first": []}
    silent = 0
    for record in records:
        data = record.data
        strict, legacy = (
            _rounds(data["options"], data["answer"], data["replies"], way) for way in (False, True)
        )
        share = 1 / len(data["types"])
        for key, rounds in (("circular", strict), ("legacy", legacy)):
            right = len(rounds) == len(LETTERS) and all(rounds)
            tallies[key] += [Tally(record.case, right * share, share, kind) for kind in data["types"]]
        tallies["first"].append(Tally(record.case, float(strict[0])))
        silent += strict_letter(data["replies"][0]) is None
    notes = [
        f"{one.model}, {one.city}: {silent} of {len(records)} first replies choose no letter: wrong"
        for one in records[:1]
        if silent
    ]
    return Scores(tallies, notes=notes)


def show(record: Record) -> Shown:
    """The photo, the question, and what was replied round by round."""
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
    )


def _rounds(options: Sequence[str], answer: int, replies: Sequence[str], legacy: bool) -> list[bool]:
    """Whether each round was right, ending with the first that was not."""
    rounds = []
    for reply, (_, right) in zip(replies, rotations(options, answer), strict=False):
        letter = legacy_letter(reply, LETTERS[right]) if legacy else strict_letter(reply)
        rounds.append(letter == LETTERS[right])
        if not rounds[-1]:
            break
    return rounds


BENCHMARK = Benchmark(
    name="place-vqa",
    title="Place VQA",
    about="Choose which of four intentions the place in a photo serves (V-IRL, section 5.3).",
    options=Options,
    episodes=episodes,
    prepare=prepare,
    run=run,
    score=score,
    show=show,
    metrics=METRICS,
    published=PUBLISHED,
    typical_s=1.9,
    work="threads",
)
