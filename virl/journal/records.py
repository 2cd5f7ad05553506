"""What a journal holds: one record a line, each with a sequence number.

Described in `docs/reference/run-folder.md`.
"""

from datetime import date
from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter

from virl.money.book import MOST_USD
from virl.pages.exhibits import Exhibit
from virl.pages.notebooks import card
from virl.pages.numbers import dollars
from virl.plain_text import plain_line
from virl.platform.city.claims import Claim, ToldTruth
from virl.platform.city.left_out import Omission
from virl.platform.city.outcome import Outcome, Status

FORMAT = 1
"""Version of the journal's format; a journal of another version is refused."""


LONGEST_NAME = 255
"""Bytes of a file's name on common disks."""


def _in_the_folder(name: str) -> str:
    path = PurePosixPath(name)
    parts = path.parts
    if path.is_absolute() or not parts or ".." in parts or "\\" in name or "\0" in name:
        raise ValueError("must be the path of a file in the run's folder")
    if plain_line(name) != name:
        raise ValueError("must hold no control characters")
    if any(len(part.encode("utf-8", "replace")) > LONGEST_NAME for part in parts):
        raise ValueError(f"must have names of at most {LONGEST_NAME} bytes")
    return name


RunFile = Annotated[str, AfterValidator(_in_the_folder)]
"""Path of a file within the run's folder, with `/`: a journal from elsewhere reads nothing outside it."""


Latitude = Annotated[float, Field(ge=-90, le=90)]
Longitude = Annotated[float, Field(ge=-180, le=180)]
Usd = Annotated[float, Field(ge=-MOST_USD, le=MOST_USD)]
"""Dollars; negative where a step gives back what an earlier one held."""
Metres = Annotated[float, Field(ge=0, le=1e9)]
Seconds = Annotated[float, Field(ge=0, le=1e12)]
Count = Annotated[int, Field(ge=0, le=10**15)]


class Record(BaseModel):
    """Base of all that is written down."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class PoseRecord(Record):
    """The place and the heading of the agent."""

    pano_id: str
    heading: float
    lat: Latitude
    lng: Longitude


class DetectionRecord(Record):
    """A thing found in a view; pixels and degrees as in `Detection`."""

    label: str
    score: float
    box: tuple[float, float, float, float]
    text: str = ""


Purpose = Literal["look", "closer", "road", "photo"]
"""A look around, a second look at something, a look down a road, or a photo that a place is listed with."""


class ViewRecord(Record):
    """A view that was looked at, kept as a file."""

    file: RunFile
    pano_id: str
    heading: float
    pitch: float
    fov: float
    width: Count
    height: Count
    purpose: Purpose = "look"
    """A `photo` was taken nobody knows where: its `pano_id` is empty, its angles say nothing."""
    caption: str = ""
    detections: tuple[DetectionRecord, ...] = ()


class ExchangeRecord(Record):
    """A question put to a mind and its reply."""

    prompt: str
    mind: str
    inputs: dict[str, object]
    reply: dict[str, object]
    cached: bool = False
    attempts: Count = 1
    input_tokens: Count = 0
    output_tokens: Count = 0
    usd: Usd = 0.0
    seconds: Seconds = 0.0
    remark: str = ""
    """A remark that is made once of a model, such as that it takes no pictures."""


class PlaceRecord(Record):
    """A place that was considered."""

    id: str
    name: str
    types: tuple[str, ...]
    lat: Latitude
    lng: Longitude
    address: str = ""
    rating: float | None = None
    review_count: Count = 0
    price_level: int | None = None
    summary: str = ""
    decision: Literal["enter", "continue"]
    reason: str


class RequestsRecord(Record):
    """The requests to a provider on the network, such as Google."""

    sent: dict[str, Count] = {}
    """Requests that were tried, each further try included, by endpoint."""
    cached: dict[str, Count] = {}
    """Requests that the cache or a recording answered, by endpoint."""
    received: dict[str, Count] = {}
    """Bytes of the replies that came over the network, by endpoint."""
    usd: Usd = 0.0
    """List price of those that were billed."""


class AccessRecord(Record):
    """The user's choice of how requests are paid for, kept and recorded."""

    budget_usd: Usd | None = None
    cache: Literal["off", "session", "ttl"] | None = None
    """`None` leaves it to the provider's settings."""
    record: str | None = None
    """Folder of a recording that is written."""
    replay: str | None = None
    """Folder of a recording that is played."""
    as_of: date | None = None
    """Pictures that were taken after this day are left out."""


class ObjectRecord(Record):
    """A sighting of a thing that is counted, and what visual memory made of it."""

    id: str
    """The identifier of the thing, in `memory/`."""
    label: str
    score: float
    lat: Latitude
    """The latitude of the thing, as far as was known then."""
    lng: Longitude
    new: bool
    """True if the thing was seen for the first time."""
    picture: RunFile | Literal[""]
    """The view with the thing marked: a path within the run's folder; empty if none is kept."""


class StartRecord(Record):
    """The first line: what was run."""

    kind: Literal["start"] = "start"
    seq: int = 0
    format: int = FORMAT
    virl: str
    """Version of virl, with a digest of its code; of older runs, without one."""
    agent: str
    city: str
    mind: str
    seed: int
    started: str
    """UTC, ISO 8601."""
    id: str = ""
    """Id of this run among all others, by the folder it began in: what was paid before its first line was
    written is found again when it is begun there once more."""
    mover: str = "links"
    mover_reason: str = ""
    """The reason for the mover; empty if there was nothing to decide."""
    start_reason: str = ""
    """The reason for the start; empty where the character or the user says where."""
    replaced: tuple[str, ...] = ()
    """Sentences on what the character's file names and the city lacks, and what stands in for it."""
    objects: dict[str, str] = {}
    """Classes of the objects that a program gave, by argument, such as `object: mine.Places`."""
    prompts: str = ""
    """Folder of prompts that come before the character's own; empty for none."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """The device that models run on."""
    allow_downloads: bool = False
    access: AccessRecord = AccessRecord()
    feedback: str | None = None
    """A file of what the user says on the way, or `"terminal"`."""
    caller: str | None = None
    """The agent that consulted this one."""
    decided_by: str = ""
    """The decider in place of a routine, such as `your own code`; empty where a routine decides."""
    routine: str | None = None
    """The name of its routine; empty for one that lies beside the character's file, `None` in a journal of a
    version that did not write it down."""
    attribution: str = ""
    """The notice for every page about the city, as in `City.notice`; in older runs, the attribution only."""
    mind_settings: dict[str, object] = {}
    """The settings of the language model, defaults of its provider included; empty for rules."""
    character: dict[str, object]


class StepRecord(Record):
    """One step: arriving somewhere, looking, thinking, deciding."""

    kind: Literal["step"] = "step"
    seq: int
    step: Count
    """0 at the start, then one more for each move."""
    pose: PoseRecord
    distance_m: Metres
    """Metres walked to get here from the step before."""
    views: tuple[ViewRecord, ...] = ()
    asked: tuple[ExchangeRecord, ...] = ()
    places: tuple[PlaceRecord, ...] = ()
    objects: tuple[ObjectRecord, ...] = ()
    crossing: bool = False
    decided: str
    """The agent's next action and the reason for it, in a sentence."""
    decided_by: str = ""
    """The decider in the agent's place: `user`, who had taken over; empty where the agent decided itself."""
    next_pano_id: str | None = None
    """The identifier of the next panorama; `None` if the agent stops."""
    outcome: Outcome | None = None
    """The end of a walk, where one ends here; `None` in journals of earlier versions, too."""
    seconds: Seconds = 0.0
    requests: RequestsRecord = RequestsRecord()


class InterruptedRecord(Record):
    """The payments in steps that a kill or an error interrupted: no record of a step tells of them."""

    usd: Usd = 0.0
    sent: dict[str, Count] = {}
    """Requests to a provider, by endpoint."""
    llm_calls: Count = 0
    input_tokens: Count = 0
    output_tokens: Count = 0

    @property
    def is_something(self) -> bool:
        """Return whether anything was paid or asked."""
        return bool(self.usd or self.sent or self.llm_calls)


class CostRecord(Record):
    """The cost of a run, by its book. The answers of rules cost nothing and are counted nowhere."""

    usd: Usd = 0.0
    """The dollars paid for models and providers together."""
    llm_calls: Count = 0
    """Requests sent to a model, repeated attempts included."""
    llm_cached: Count = 0
    """Questions answered from the reply cache."""
    input_tokens: Count = 0
    output_tokens: Count = 0
    views: Count = 0
    """Views looked at."""
    requests: RequestsRecord = RequestsRecord()
    """The requests to a provider on the network."""
    interrupted: InterruptedRecord = InterruptedRecord()
    """The part of all this that was paid in steps that were interrupted."""
    seconds: Seconds = 0.0
    """Time spent on steps, pauses between a kill and the resume left out."""


class NoteRecord(Record):
    """A piece of work that is no step: a candidate weighed, a tool called, another agent consulted."""

    kind: Literal["note"] = "note"
    seq: int
    topic: str
    """The sort of work, such as `"candidate"`."""
    key: str
    """The key of the note: no two notes of a topic have the same."""
    title: str = ""
    """The name of the thing that the note is about; empty where the text says it."""
    text: str
    """The outcome, in a sentence or two."""
    data: dict[str, object] = {}
    """The data that the routine needs to go on from here."""
    views: tuple[ViewRecord, ...] = ()
    asked: tuple[ExchangeRecord, ...] = ()
    cost: CostRecord | None = None
    """The cost of an agent that was consulted."""
    seconds: Seconds = 0.0
    requests: RequestsRecord = RequestsRecord()

    @property
    def sentence(self) -> str:
        """The title and the text."""
        return f"{self.title}: {self.text}" if self.title else self.text


class PartRecord(Record):
    """A part of a run that one version of virl made: from where the run began or was resumed."""

    seq: int
    """Number of its first record."""
    step: Count
    """Number of its first step."""
    virl: str
    """Version of virl, with a digest of its code since runs name one."""


class WordsRecord(Record):
    """The word groups that drove a run, by what the rules made of them."""

    understood: tuple[str, ...]
    not_understood: tuple[str, ...] = ()
    """Manner, reasons and small talk, which changed nothing."""

    def __str__(self) -> str:
        understood, left = (
            ", ".join(f'"{one}"' for one in each) for each in (self.understood, self.not_understood)
        )
        return f"Understood: {understood}; not understood: {left or 'nothing'}."


class Result(Record):
    """The outcome of a run; also `result.json`."""

    agent: str
    city: str
    notice: str = ""
    """The notice about the city's data, as in `City.notice`; empty for nothing."""
    status: Status
    steps: Count
    distance_m: Metres
    place: PlaceRecord | None = None
    found: dict[str, Count] = {}
    """The number of things counted, by kind."""
    answer: dict[str, object] = {}
    """The answer that the agent was to find, for programs."""
    files: tuple[RunFile, ...] = ()
    """The files that the agent made, as paths within the run's folder."""
    left_out: tuple[Omission, ...] = ()
    """Items and fields of replies and files that could not be read, and places out of reach."""
    reason: str
    """The outcome's sentence."""
    outcome: Outcome | None = None
    """The end as a typed value; `None` in journals of earlier versions."""
    words: WordsRecord | None = None
    """The rules' reading of the words that drove the run; `None` where no rules or no words did."""
    claims: tuple[Claim, ...] = ()
    """The agent's claims, as far as a town that virl draws can check them."""
    truth: ToldTruth | None = None
    """Those claims beside what is true, in `result.json` of a run that has ended in such a town; never in a
    journal, and not of an agent that was consulted."""
    cost: CostRecord
    versions: dict[str, str]
    parts: tuple[PartRecord, ...] = ()
    """The versions that made the run, one after the other; empty in journals of earlier versions."""

    def _repr_html_(self) -> str:
        """Return the run's end as HTML for a notebook."""
        found = ", ".join(f"{count} {kind}" for kind, count in self.found.items())
        facts = (
            ("status", self.status),
            ("reason", self.reason),
            ("place", self.place.name if self.place else None),
            ("found", found),
            ("truth", self.truth.line if self.truth else None),
            ("steps", self.steps),
            ("walked", f"{self.distance_m:,.0f} m"),
            ("cost", dollars(self.cost.usd)),
        )
        return card(f"{self.agent} in {self.city}", facts, notes=(self.notice,))


class EndRecord(Record):
    """The last line of a finished run."""

    kind: Literal["end"] = "end"
    seq: int
    result: Result
    asked: tuple[ExchangeRecord, ...] = ()
    """The questions after the last record before this one."""
    exhibits: tuple[Exhibit, ...] = ()
    """The exhibits that the report shows of the run."""


AnyRecord = StartRecord | StepRecord | NoteRecord | EndRecord
ANY_RECORD: TypeAdapter[AnyRecord] = TypeAdapter(Annotated[AnyRecord, Field(discriminator="kind")])
