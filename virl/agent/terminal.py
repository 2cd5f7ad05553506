"""The story of a run on the terminal: lines on finds and decisions, and a progress bar."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Self

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Column, Table
from rich.text import Text

from virl.agent.routine import find_routine
from virl.console import ACCENT, CAUTION, GOOD, as_markup, say
from virl.geo.globe import LatLng
from virl.journal.journal import SCRIPTED
from virl.journal.records import AnyRecord, CostRecord, NoteRecord, Result, StartRecord, StepRecord
from virl.journal.report import routine_name
from virl.pages.numbers import count_noun, dollars, megabytes, show_duration
from virl.platform.city.inventory import Inventory, street_finder
from virl.platform.perception.models import measured_error
from virl.platform.providers.cities import title_of_city
from virl.resources import data_folder

LETTERS_PER_TOKEN = 4  # of English text
LAST_WORDS = 48
"""Number of a streaming reply's last characters that are shown; chosen to fit beside the bar."""
_INDENT = 6  # columns before the text of a step, of which its number takes four
_MEASURED, _LONG_S = 20, 120.0  # after so many units of work, more seconds left than these are told; chosen


class Thinking:
    """A request to a model in progress: its name, seconds so far, and an estimate of its tokens."""

    def __init__(self) -> None:
        """Begin without a request."""
        self._begin("")

    def begin(self, name: str) -> None:
        """Begin to count time and tokens of a request to the model of this name."""
        self._begin(f"{name} thinks")

    def add(self, letters: int, last: str) -> None:
        """Add a piece of the reply: its number of letters, and the last words of the reply so far."""
        self._pieces += 1
        self._letters += letters
        self._last = last[-LAST_WORDS:]

    def waits(self, name: str, seconds: float, why: str) -> None:
        """Show a pause of so many seconds before a model is tried again, and why the last try failed."""
        self._begin(f"{name} is tried again in {seconds:.0f} s ({why[:80]})")

    def end(self) -> None:
        """End the request, so that nothing is shown."""
        self._doing = ""

    def _begin(self, doing: str) -> None:
        """Begin a new piece of work, described by this text, with counts and seconds from zero."""
        self._doing, self._since, self._pieces, self._letters, self._last = doing, monotonic(), 0, 0, ""

    def to_text(self) -> str:
        """Return the request in progress as one line of text; empty while no model is asked."""
        if not self._doing:
            return ""
        # A piece has at least one token; of servers that send long pieces, the letters tell more.
        tokens = max(self._pieces, self._letters // LETTERS_PER_TOKEN)
        parts = [self._doing, f"{monotonic() - self._since:.0f} s"]
        parts += [f"about {count_noun(tokens, 'token')}"] if tokens else []
        words = " ".join(self._last.split())
        return ", ".join(parts) + (f": \N{HORIZONTAL ELLIPSIS}{words}" if words else "")


class _Thoughts(ProgressColumn):
    """A column of rich's progress bar with the model request in progress."""

    def __init__(self, thinking: Thinking) -> None:
        """Begin a column that shows the request in `thinking`."""
        super().__init__()
        self._thinking = thinking

    def render(self, task: Task) -> Text:
        """Return the progress of the model request as text; empty while no model is asked."""
        del task
        return Text(self._thinking.to_text(), style="dim", overflow="ellipsis", no_wrap=True)


class _KnownTotalBar(ProgressColumn):
    """A bar of the share that is done, shown only if the total is known."""

    _bar = BarColumn()

    def render(self, task: Task) -> RenderableType:
        """Return the bar of a task; empty where its total is unknown."""
        return "" if task.total is None else self._bar.render(task)


class Story:
    """An audience that prints a run's finds and decisions on the terminal, not every step."""

    def __init__(self, console: Console, inventory: Inventory | None = None) -> None:
        """Begin a story on `console`, with a progress bar; `inventory` names the streets."""
        self._street_at = street_finder(inventory) if inventory and console.is_terminal else None
        self.thinking = Thinking()
        self._progress = Progress(
            SpinnerColumn("line"),
            TextColumn("[dim]{task.description}"),
            _KnownTotalBar(),
            TextColumn(f"[{ACCENT}]{{task.fields[count]}}"),
            TimeElapsedColumn(),
            TextColumn("[dim]{task.fields[left]}"),
            _Thoughts(self.thinking),
            console=console,
            transient=True,
            disable=not console.is_terminal,  # else rich takes what a notebook prints
        )
        self._walked_m = 0.0
        self._told: list[str] = []
        self._task = self._progress.add_task("starting", total=None, count="", left="")
        self._doing, self._since, self._from = "", 0.0, 0
        self._has_told_long = False
        self._known: Counter[str] = Counter()
        self._detector_name = ""

    def __enter__(self) -> Self:
        """Show the progress bar."""
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the progress bar."""
        self._progress.stop()

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Remove the progress bar within the block, while somebody types."""
        self._progress.stop()
        try:
            yield
        finally:
            self._progress.start()

    def start(self, record: StartRecord, done: Sequence[AnyRecord]) -> None:
        """Print which agent begins or resumes its run, in which city and with which mind."""
        steps = [one for one in done if isinstance(one, StepRecord)]
        self._detector_name = _detector_name(record)
        name = record.character.get("name", record.agent)
        how = f"continues after step {steps[-1].step}" if steps else "continues" if done else "starts"
        where, mind = as_markup(title_of_city(record.city)), as_markup(record.mind)
        self._say(f"[bold]{as_markup(str(name))}[/] {how} in {where}, mind: {mind}")
        if not _asks_mind(record):
            detector = f"Detector: {self._detector_name}" if self._detector_name else ""
            line = f"[dim]This agent uses no mind. {as_markup(detector)}[/]"
            if line not in self._told:
                self._say(line)
        elif record.mind == "rules":
            self._say("[dim]Rules decide. To use a language model, add --mind openai:MODEL[/]")
        elif record.mind.startswith(SCRIPTED):
            self._say("[dim]A script decides. No language model is used.[/]")
        if steps:
            self._walked_m = sum(step.distance_m for step in steps[:-1])
            self._advance_bar(steps[-1])
        self._known.update(thing.label for step in steps for thing in step.objects if thing.new)

    def progress(self, doing: str, done: int, total: int) -> None:
        """Set the bar to a piece of work with `done` of `total` units done, and estimate the time left."""
        if done >= total:
            self._doing, self._progress.tasks[0].total = "", None  # rich's `update` leaves a total of None
            self._progress.update(self._task, description="working", count="", left="")
            return
        now = self._progress.get_time()
        if doing != self._doing:
            self._doing, self._since, self._from = doing, now, done
        # What a resumed run had done before took no time now, and says nothing about the pace.
        ahead = done - self._from
        seconds = (now - self._since) / ahead * (total - done) if ahead > 0 else 0.0
        left = show_duration(seconds) if ahead > 0 else ""
        if not self._has_told_long and ahead >= _MEASURED and seconds > _LONG_S:
            self._has_told_long = True
            self._say(f"[dim]{done} of {total}: about {left} left. Ctrl+C stops, --resume goes on.[/]")
        self._progress.update(
            self._task,
            description=doing,
            completed=done,
            total=total,
            count=f"{done}/{total}",
            left=f"about {left} left" if left else "",
        )

    def step(self, record: StepRecord) -> None:
        """Print a step's places and new objects; its decision, too, if not the routine's or by road views."""
        self._advance_bar(record)
        for place in record.places:
            mark = f"[{GOOD}]enters[/]" if place.decision == "enter" else "passes"
            stars = f" {place.rating:.1f}★" if place.rating is not None else ""
            found = f"{mark} [bold]{as_markup(place.name)}[/]{stars}: {as_markup(place.reason)}"
            self._say_at(record.step, found)
        for thing in record.objects:
            if thing.new:
                self._known[thing.label] += 1
                number = self._known[thing.label]
                where = LatLng(thing.lat, thing.lng)
                self._say_at(record.step, f"found [bold]{as_markup(thing.label)} {number}[/] at {where}")
        if record.decided_by or any(view.purpose == "road" for view in record.views):
            self._say_at(record.step, as_markup(record.decided))

    def _advance_bar(self, record: StepRecord) -> None:
        """Set the bar to a step; if no total is known, show the distance walked and the street."""
        self._walked_m += record.distance_m
        if self._doing:
            self.progress(self._doing, record.step, int(self._progress.tasks[0].total or record.step))
        else:
            street = self._street_at(LatLng(record.pose.lat, record.pose.lng)) if self._street_at else ""
            parts = (f"step {record.step}", f"{self._walked_m:.0f} m", as_markup(street))
            self._progress.update(self._task, description="walking", count=", ".join(filter(None, parts)))

    def note(self, record: NoteRecord) -> None:
        """Print the topic and the outcome of a piece of work."""
        self._say(f"[{ACCENT}]{as_markup(record.topic)}[/]  {as_markup(record.sentence)}")

    def end(self, result: Result) -> None:
        """Print the run's end, result and cost."""
        self._progress.stop()
        colour = GOOD if result.status in {"entered", "finished"} else CAUTION
        where = f" [bold]{as_markup(result.place.name)}[/]" if result.place else ""
        reason = self._untold(as_markup(result.reason))
        self._say(f"[{colour}]{result.status}[/]{where}{f': {reason}' if reason else ''}")
        if result.words and result.words.not_understood:
            self._say(as_markup(str(result.words)))
        if result.found:
            table = Table("kind", Column("found", justify="right"), box=SIMPLE_HEAD, pad_edge=False)
            for kind, count in result.found.items():
                table.add_row(as_markup(kind), str(count))
            self._progress.console.print(table)
            if error := measured_error(self._detector_name):
                self._say(f"[dim]{as_markup(error)}[/]")
        walked = f"{count_noun(result.steps, 'step')}, {result.distance_m:.0f} m, " if result.steps else ""
        self._say(f"[dim]{walked}{_cost_text(result.cost)}[/]")

    def nested_audience(self) -> "NestedStory":
        """Return an audience that shows the steps of a consulted agent."""
        return NestedStory(self)

    def _untold(self, reason: str) -> str:
        """Return what of a reason is not printed yet: nothing, the words before its first colon, or all."""
        head, _, rest = reason.partition(": ")
        whole_told, rest_told = (
            any(line.endswith(f" {part}") for line in self._told) for part in (reason, rest)
        )
        return "" if whole_told else head if rest and rest_told else reason

    def _say_at(self, step: int, markup: str) -> None:
        """Print a line of rich markup behind the number of its step."""
        self._say(f"[{ACCENT}]{step:>4}[/]  {markup}", _INDENT)

    def _say(self, text: str, indent: int = 2) -> None:
        """Print and remember a line of rich markup; where it wraps, it is indented by `indent` columns."""
        self._told.append(text)
        say(self._progress.console, text, indent)


class NestedStory:
    """An audience for a consulted agent: its steps move the bar of the agent that consults."""

    def __init__(self, story: Story) -> None:
        """Begin within the story of the agent that consults."""
        self._story = story
        self.progress, self.step = story.progress, story.step

    def start(self, record: StartRecord, done: Sequence[AnyRecord]) -> None:
        """Print which agent is consulted, unless its routine asks a mind."""
        if not _asks_mind(record):
            self._story.start(record, done)

    def note(self, record: NoteRecord) -> None:
        """Ignore the note: the caller prints its outcome."""

    def end(self, result: Result) -> None:
        """Ignore the result: the caller prints it."""

    def nested_audience(self) -> "NestedStory":
        """Return an audience of the same kind for an agent that the consulted one consults."""
        return self


def _asks_mind(record: StartRecord) -> bool:
    """Return whether the run's routine asks a mind; true if the routine is unknown."""
    routine = find_routine(data_folder("agents"), routine_name(record))
    return routine is None or routine.asks_mind()


def _detector_name(record: StartRecord) -> str:
    """Return the name of the run's detector; empty if the character names none."""
    senses = record.character.get("senses")
    return str(senses["detector"]) if isinstance(senses, dict) and "detector" in senses else ""


def _cost_text(cost: CostRecord) -> str:
    """Return a run's views, map requests, model calls and dollars as text, such as `3 views, ..., $0.51`."""
    asked = cost.requests
    sent, cached, received = (sum(counts.values()) for counts in (asked.sent, asked.cached, asked.received))
    parts = [count_noun(cost.views, "view")]
    if sent or cached:
        parts += [f"{count_noun(sent, 'map request')} ({megabytes(received)})", f"{cached} from the cache"]
    lost = cost.interrupted.usd
    spent = dollars(cost.usd) + (f" ({dollars(lost)} of it in interrupted steps)" if lost else "")
    return ", ".join([*parts, count_noun(cost.llm_calls, "model call"), spent])
