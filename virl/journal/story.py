"""A run as a story for its report: the steps where something happened, and the stretches between them."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from virl.geo.globe import LatLng, bearing, compass_word
from virl.journal.records import DetectionRecord, ExchangeRecord, NoteRecord, Result, StepRecord, ViewRecord
from virl.pages.numbers import count_noun
from virl.plain_text import capitalize, shorten
from virl.platform.navigators.intention.rules import name_roads

LONGEST = 4000
"""Most characters of a text that the report shows; the rest is in the journal alone; chosen."""
EDGE = 1 / 64
"""Share of a view's width from its edge within which a sign is taken to be cut; chosen: 10 of 640 pixels."""
COLUMNS = 6
"""Most fields of mappings that the report shows as rows of a table. Chosen."""


def words(name: str) -> str:
    """Return a name with its underscores and hyphens replaced by blanks."""
    return name.replace("_", " ").replace("-", " ")


def question(exchange: ExchangeRecord) -> str:
    """Return the title of an exchange's prompt: `"homes/rating"` becomes `"Homes: rating"`."""
    return words(exchange.prompt).replace("/", ": ").capitalize()


def scalar(value: object) -> str:
    """Return a value as text: `yes` for true, a dash for `None`, items of lists or mappings with commas."""
    if value is None or value == "":
        return "\N{EN DASH}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.7g}"
    if isinstance(value, list | tuple):
        return _cut(", ".join(map(scalar, value)) or "none")
    if isinstance(value, dict):
        return _cut(", ".join(f"{words(str(key))} {scalar(part)}" for key, part in value.items()) or "none")
    return _cut(str(value))


def is_list(value: object) -> bool:
    """Return whether a value is a list or tuple."""
    return isinstance(value, list | tuple)


def is_structured(value: object) -> bool:
    """Return whether a value is a mapping, list or tuple."""
    return isinstance(value, list | tuple | dict)


def is_rows(value: object) -> bool:
    """Return whether a value is a list of mappings with the same fields, 1 to `COLUMNS`, of plain values."""
    if not isinstance(value, list | tuple) or not value or not all(isinstance(row, dict) for row in value):
        return False
    fields = list(value[0])
    return 0 < len(fields) <= COLUMNS and all(
        list(row) == fields and not any(map(is_structured, row.values())) for row in value
    )


def seen_in(view: ViewRecord, where: str) -> str:
    """Return a view's `alt` text: direction, caption, finds, and `where` it was taken, such as "step 3"."""
    sort = {"look": "View", "closer": "Closer look", "road": "View down the road", "photo": "Photo"}
    text = sort[view.purpose]
    if view.purpose != "photo":
        text += f" to the {compass_word(view.heading)}, {view.heading:.0f}\N{DEGREE SIGN}"
    if view.purpose != "photo" and abs(view.pitch) >= 0.5:
        text += f" and {abs(view.pitch):.0f}\N{DEGREE SIGN} {'up' if view.pitch > 0 else 'down'}"
    found = [
        words(one.label) + (f" with the sign “{one.text}”" if one.text else "") for one in view.detections
    ]
    told = "; ".join(filter(None, [view.caption, f"found: {', '.join(found)}" if found else ""]))
    return f"{text}, at {where}" + (f": {told}" if told else "")


def _cut(text: str) -> str:
    """Return a text cut to `LONGEST` characters, with a remark on how many were cut."""
    if len(text) <= LONGEST:
        return text
    kept = shorten(text, LONGEST).removesuffix("…")
    return f"{kept}\n… and {count_noun(len(text) - len(kept), 'character')} more, in journal.jsonl"


_SENTENCES = ("reason", "summary", "description", "answer")
"""Names of reply fields that hold prose."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive steps of a run at which nothing was seen or decided."""

    steps: tuple[StepRecord, ...]

    @property
    def metres(self) -> float:
        """Metres walked on these steps together."""
        return sum(step.distance_m for step in self.steps)

    @property
    def direction_name(self) -> str:
        """Compass direction from the first of the steps to the last, such as `northeast`."""
        first, last = self.steps[0].pose, self.steps[-1].pose
        if (first.lat, first.lng) == (last.lat, last.lng):
            return compass_word(first.heading)
        return compass_word(bearing(LatLng(first.lat, first.lng), LatLng(last.lat, last.lng)))


def chapters(
    records: Sequence[StepRecord | NoteRecord], worth: Callable[[StepRecord], bool] | None = None
) -> Iterator[StepRecord | NoteRecord | Stretch]:
    """Yield a story's chapters in order: notes, steps that are `worth` telling, and stretches of others.

    Beside notes, a start from which nobody walked is left out.
    """
    worth = worth or is_eventful
    steps = [record.step for record in records if isinstance(record, StepRecord)]
    if steps == [0] and len(records) > 1:
        records = [one for one in records if isinstance(one, NoteRecord) or worth(one)]
    ends = {*steps[:1], *steps[-1:]}
    quiet: list[StepRecord] = []
    for record in records:
        if isinstance(record, StepRecord) and not (worth(record) or record.step in ends):
            quiet.append(record)
            continue
        if quiet:
            yield Stretch(tuple(quiet))
            quiet = []
        yield record


@dataclass(frozen=True, slots=True)
class Gap:
    """The middle part of a long story, which the page leaves out: its steps, notes and record numbers."""

    steps: int
    notes: int
    first: int
    """Number of the first record left out."""
    last: int

    def __str__(self) -> str:
        """Return the sentence on which records are left out."""
        counts = ((self.steps, "steps"), (self.notes, "notes"))
        left = " and ".join(f"{count:,} {what}" for count, what in counts if count)
        return (
            f"{left} are left out here, so that this page stays under 2 MB: records {self.first} to "
            f"{self.last} of journal.jsonl tell them, and the folder views has their pictures."
        )


Chapter = StepRecord | NoteRecord | Stretch | Gap


def shorten_story(told: Sequence[StepRecord | NoteRecord | Stretch], most: int) -> tuple[list[Chapter], int]:
    """Return (chapters, their estimated bytes of HTML), with the middle left out to keep to `most` bytes.

    The first and the last of the chapters in `told` always remain.
    """
    sizes = [  # estimates, measured on runs by rules and by scripts
        200 * len(one.steps)
        if isinstance(one, Stretch)
        else 1000 + 2 * len(one.model_dump_json(exclude_defaults=True))
        for one in told
    ]
    ends, size = [0, 0], 0
    # From both ends in turn, so that the beginning and the end of the story remain.
    for turn in range(len(told)):
        at = ends[0] if turn % 2 == 0 else len(told) - 1 - ends[1]
        if size + sizes[at] > most and turn > 1:
            break
        ends[turn % 2] += 1
        size += sizes[at]
    left: list[StepRecord | NoteRecord] = []
    for one in told[ends[0] : len(told) - ends[1]]:
        left += one.steps if isinstance(one, Stretch) else (one,)
    if not left:
        return list(told), size
    steps = sum(isinstance(record, StepRecord) for record in left)
    gap = Gap(steps, len(left) - steps, left[0].seq, left[-1].seq)
    return [*told[: ends[0]], gap, *told[len(told) - ends[1] :]], size


def steps_in(chapter: Chapter) -> Sequence[StepRecord]:
    """Return the steps that a chapter of the story shows; none for a note or gap."""
    if isinstance(chapter, Stretch):
        return chapter.steps
    return (chapter,) if isinstance(chapter, StepRecord) else ()


def is_eventful(step: StepRecord) -> bool:
    """Return whether something was found, asked or decided at a step, or views were taken at a crossing."""
    seen = any(view.detections or view.purpose != "look" for view in step.views)
    return bool(step.asked or step.places or step.decided_by or seen or (step.crossing and step.views))


@dataclass(frozen=True, slots=True)
class Group:
    """Chapters of a story that belong together, such as an activity with its drafts, under a title."""

    title: str
    chapters: tuple[Chapter, ...]

    @property
    def anchor(self) -> str:
        """Fragment of the address of the group's first chapter."""
        return anchor_of(self.chapters[0])

    @property
    def records(self) -> list[StepRecord | NoteRecord]:
        """Steps and notes of the chapters, in order."""
        notes = ((one,) if isinstance(one, NoteRecord) else steps_in(one) for one in self.chapters)
        return [record for records in notes for record in records]


def anchor_of(chapter: Chapter) -> str:
    """Return the id that a chapter has on the page, such as `step-4` or `note-7`."""
    if isinstance(chapter, Gap):
        return f"gap-{chapter.first}"
    if isinstance(chapter, NoteRecord):
        return f"note-{chapter.seq}"
    return f"step-{steps_in(chapter)[0].step}"


_FOLLOWS = {"activity", "arrival", "audit", "consultation", "estimate", "leg", "lost-turn", "order", "tool"}
"""Topics of notes that belong to what is before them."""


def groups_of(told: Sequence[Chapter], most: int) -> list[Group]:
    """Return a story's chapters in at most `most` groups: turns, activities, steps, or notes of one topic."""
    units: list[list[Chapter]] = []
    topic, was_plain = "", False
    for one in told:
        is_plain = isinstance(one, StepRecord) and kind_of(one) == "walk" and not one.views
        ended, now = topic == "activity", one.topic if isinstance(one, NoteRecord) else ""
        # Quiet steps belong to the note before them, and stand for themselves after a step.
        is_more = now in _FOLLOWS or (bool(topic) and (isinstance(one, Stretch) or now == topic != "thought"))
        if units and (is_more or (is_plain and was_plain)) and not ended:
            units[-1].append(one)
        else:
            units.append([one])
        was_plain = is_plain
        topic = now if not isinstance(one, Stretch) else topic
    size = max(1, ceil(len(units) / most))
    parts = [units[first : first + size] for first in range(0, len(units), size)]
    known: set[str] = set()
    return [Group(_name_group(part, known), tuple(one for unit in part for one in unit)) for part in parts]


def _name_group(units: Sequence[Sequence[Chapter]], known: set[str]) -> str:
    """Return the title of a group: that of its one step, turn or activity, else what it has how often.

    What happened is told unless it is `known`, to which it is added.
    """
    first, last = units[0][0], units[0][-1]
    every = [one for unit in units for one in unit]
    notes = [one for one in every if isinstance(one, NoteRecord)]
    turns = [_number(one.key) for one in notes if one.topic == "thought"]
    steps = [step for one in every for step in steps_in(one)]
    if len(turns) == 1:
        tools = [str(one.data.get("name")) for one in notes if one.topic == "tool"]
        return f"Turn {turns[0]}: {', '.join(tools) or 'no call'}"
    if turns:
        return f"Turns {turns[0]} to {turns[-1]}{_what_happened(every, known)}"
    if steps and (not notes or (first is steps[0] and len(units) == 1)):
        many = f"Steps {steps[0].step} to {steps[-1].step}"
        return f"{many}{_what_happened(every, known)}" if len(steps) > 1 else moment_of(steps[0])
    if len(units) == 1 and isinstance(last, NoteRecord) and last.topic == "activity":
        return last.title or re.split(r"[.:] ", last.text)[0]
    if len(units) == 1 and isinstance(first, NoteRecord) and len(units[0]) == 1:
        return first.title or words(first.topic).capitalize()
    counts = Counter(words(one.topic) for one in notes) + Counter(step=len(steps))
    plural = {what: f"{what[:-1]}ies" for what in counts if what.endswith("y")} | {
        "scenic": "ratings of views"
    }
    named = (count_noun(count, what, plural.get(what, "")) for what, count in counts.items())
    return ", ".join(named).capitalize()


def _what_happened(every: Sequence[Chapter], known: set[str]) -> str:
    """Return a colon and what was seen and walked in chapters, else the tools used; empty for nothing.

    What is `known` is left out; what is told is added to it.
    """
    steps = [step for one in every for step in steps_in(one)]
    notes = [one for one in every if isinstance(one, NoteRecord)]
    events = [title for step in steps if is_eventful(step) and (title := title_of(step)) != "On the way"]
    signs = [sign for note in notes for sign in signs_in(note.views)]
    events += [f"saw “{text}”" for text in signs]
    parts = {one.partition(", ")[0]: one for one in (one[:1].lower() + one[1:] for one in events)}
    seen = {part: one for part, one in parts.items() if part not in known}
    known.update([*seen][:2])
    walked = sum(step.distance_m for step in steps)
    tools = dict.fromkeys(words(str(one.data.get("name"))) for one in notes if one.topic == "tool")
    told = [*([f"walked {walked:.0f} m"] if notes and walked >= 1 else []), *[*seen.values()][:2]] or list(
        tools
    )[:3]
    return f": {', '.join(told)}" if told else ""


def signs_in(views: Sequence[ViewRecord]) -> list[str]:
    """Return the texts that were read in views, without those of signs that a view's edge cuts."""
    return [found.text for view in views for found in view.detections if found.text and is_whole(found, view)]


def is_whole(found: DetectionRecord, view: ViewRecord) -> bool:
    """Return whether a view shows all of what was found, and no side of it at the view's edge."""
    edge = EDGE * view.width
    return found.box[0] >= edge and found.box[2] <= view.width - edge


def moment_of(record: StepRecord | NoteRecord) -> str:
    """Return a step or note in a few words, for the views that were taken there."""
    if isinstance(record, StepRecord):
        return f"Step {record.step}: {title_of(record)}"
    topic, title, _ = heading_of(record)
    return words(str(record.data.get("name", ""))).capitalize() if record.topic == "tool" else title or topic


def moments_of(told: Sequence[Chapter]) -> dict[int, str]:
    """Return steps and notes in a few words by record number; notes on tools begin with their step."""
    found, at = {}, "Step 0: " if any(map(steps_in, told)) else ""
    for one in told:
        if steps := steps_in(one):
            at = f"Step {steps[-1].step}: "
        if isinstance(one, StepRecord | NoteRecord):
            is_at_step = isinstance(one, NoteRecord) and one.topic in ("tool", "picture")
            found[one.seq] = f"{at if is_at_step else ''}{moment_of(one)}"
    return found


def _number(key: str) -> str:
    """Return the key of a note without leading zeros."""
    return key.lstrip("0") or "0"


def heading_of(note: NoteRecord) -> tuple[str, str, str]:
    """Return (topic, title, text) of a note; a topic ends with the note's key if that is a number above 0."""
    topic = words(note.topic)
    topic = capitalize(topic)
    if note.key.isdecimal() and note.key.strip("0"):
        topic = f"{topic} {_number(note.key)}"
    # What a run ends with is its headline: it is not told again.
    return topic, "finish" if note.data.get("name") == "finish" else note.title, note.text


def kind_of(step: StepRecord) -> str:
    """Return the main event: `enter`, `continue`, `closer` look, eventful `crossing`, else `walk`."""
    decisions = {place.decision for place in step.places}
    for decision in ("enter", "continue"):
        if decision in decisions:
            return decision
    if any(view.purpose == "closer" for view in step.views):
        return "closer"
    return "crossing" if step.crossing and is_eventful(step) else "walk"


def title_of(step: StepRecord) -> str:
    """Return a title of a few words for a step, such as `Entered Chez Marie, a crossing`."""
    words = [f"entered {place.name}" for place in step.places if place.decision == "enter"]
    words += [f"passed by {place.name}" for place in step.places if place.decision == "continue"]
    if not words and kind_of(step) == "closer":
        words.append("looked closer")
    signs = signs_in(step.views)
    if signs and not words:
        words.append(f"saw “{signs[0]}”")
    if step.crossing:
        words.append("a crossing")
    if not words:
        words.append("the start" if step.step == 0 else "on the way")
    text = ", ".join(words)
    return capitalize(text)


def reason_of(step: StepRecord) -> str:
    """Return why the agent entered or passed by the places of a step; without one, its decision."""
    own = () if step.decided_by else step.places
    reason = " ".join(dict.fromkeys(place.reason for place in own)) or _name_roads(step.decided, step.views)
    return capitalize(reason)


def _name_roads(text: str, views: Sequence[ViewRecord]) -> str:
    """Return a text with the roads that it numbers named by the headings of the views down them."""
    return name_roads(text, [view.heading for view in views if view.purpose == "road"])


def counts_in_words(found: Mapping[str, int]) -> str:
    """Return counts by kind in words, such as `9 trash bins, 2 benches`."""
    return ", ".join(count_noun(count, kind) for kind, count in found.items())


def headline_of(result: Result | None) -> tuple[str, str]:
    """Return (what came of a run, in the words of its task; the rest of its reason, or empty)."""
    if result is None:
        return "The run has not ended", "If it was interrupted, continue it with --resume."
    reason = capitalize(result.reason)
    if result.found:
        counted = [one for one in (result.truth.checked if result.truth else ()) if "right" in one.numbers]
        is_wrong = len(counted) == 1 and not counted[0].holds
        right = f", {counted[0].numbers['right']:.0f} of them right" if is_wrong else ""
        return f"{counts_in_words(result.found)}{right}", reason
    if result.status == "entered" and result.place:
        return f"Entered {result.place.name}", ""  # the place's card has the reason
    if result.status == "finished" and (what := result.place or (result.outcome and result.outcome.what)):
        name = what if isinstance(what, str) else what.name
        rest = reason.removeprefix(name).lstrip()  # said already
        return f"Found {name}", capitalize(rest)
    # A sentence ends before a capital, not at the point of "5.30"; a part of one may stand for it.
    first = re.match(r".{20,110}?(?:\.(?= [A-Z\d])|;(?= ))", reason, re.DOTALL)
    head = first[0] if first else reason
    rest = reason[len(head) :].strip()
    return head.rstrip(".;"), capitalize(rest)


def ending_of(result: Result | None) -> tuple[str, str]:
    """Return (how a run ended, in a word or two; the kind of its sign: `done`, `warn` or `open`)."""
    if result is None:
        return "not ended", "open"
    held = {one.holds for one in result.truth.checked} if result.truth else set()
    if result.status in ("gave up", "stopped") or False not in held:
        return result.status, "done" if result.status in ("entered", "finished") else "warn"
    return "not all true" if True in held else "not true", "warn"


def sentences(reply: Mapping[str, object], views: Sequence[ViewRecord] = ()) -> list[str]:
    """Return the texts of a reply's fields that hold prose, such as its reason; `views` show its roads."""
    return [_name_roads(str(reply[field]), views) for field in _SENTENCES if reply.get(field)]


def facts(reply: Mapping[str, object]) -> dict[str, object]:
    """Return the fields of a reply that hold no prose, by name."""
    return {field: value for field, value in reply.items() if field not in _SENTENCES}
