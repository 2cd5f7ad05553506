"""The records of a journal: one a line, each with a sequence number.

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
"""Most bytes of a file name that common disks allow; a `RunFile` with a longer one is refused."""


def _in_the_folder(name: str) -> str:
    """Return the path unchanged if it stays in the run's folder; raise `ValueError` else."""
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
"""Path of a file within the run's folder, parts joined by `/`; never a path outside the folder."""


Latitude = Annotated[float, Field(ge=-90, le=90)]
Longitude = Annotated[float, Field(ge=-180, le=180)]
Usd = Annotated[float, Field(ge=-MOST_USD, le=MOST_USD)]
"""US dollars; negative for a step that gives back a part of what an earlier one had reserved."""
Metres = Annotated[float, Field(ge=0, le=1e9)]
Seconds = Annotated[float, Field(ge=0, le=1e12)]
Count = Annotated[int, Field(ge=0, le=10**15)]


class Record(BaseModel):
    """Base of all records of a journal and of what they hold."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class PoseRecord(Record):
    """A pose of the agent: panorama, latitude and longitude, and heading in degrees clockwise from north."""

    pano_id: str
    heading: float
    lat: Latitude
    lng: Longitude


class DetectionRecord(Record):
    """An object found in a view: score in [0, 1], box in pixels (left, top, right, bottom), text on it."""

    label: str
    score: float
    box: tuple[float, float, float, float]
    text: str = ""


Purpose = Literal["look", "closer", "road", "photo"]
"""Reason for a view: a look around, a closer look, a look down a road, or a place's listed photo."""


class ViewRecord(Record):
    """A view that was looked at, kept as a file; angles in degrees, width and height in pixels."""

    file: RunFile
    pano_id: str
    heading: float
    pitch: float
    fov: float
    width: Count
    height: Count
    purpose: Purpose = "look"
    """Reason for the view; a `photo` has no known viewpoint: `pano_id` is empty, angles say nothing."""
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
    """Remark made once about a model, such as that it takes no pictures; empty for none."""


class PlaceRecord(Record):
    """A place that the agent considered, with the decision about it."""

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
    """Counts and costs of requests to map services on the network, such as Google's."""

    sent: dict[str, Count] = {}
    """Number of requests sent, repeats included, by endpoint."""
    cached: dict[str, Count] = {}
    """Number of requests answered from the cache or a recording, by endpoint."""
    received: dict[str, Count] = {}
    """Bytes of the replies received over the network, by endpoint."""
    usd: Usd = 0.0
    """List price of the billed requests, US dollars."""


class AccessRecord(Record):
    """The user's choices on budget, cache and recording of requests; a field is `None` for no choice."""

    budget_usd: Usd | None = None
    cache: Literal["off", "session", "ttl"] | None = None
    """Caching of replies: none, for the session, or for a time; `None` for the provider's setting."""
    record: str | None = None
    """Folder that requests are recorded to; `None` for no recording."""
    replay: str | None = None
    """Folder of a recording that answers the requests; `None` to ask the network."""
    as_of: date | None = None
    """Latest day of pictures that are used; `None` for no limit."""


class ObjectRecord(Record):
    """A sighting of a thing that is counted, with the id of its object in visual memory."""

    id: str
    """Id of the object in visual memory, under `memory/`."""
    label: str
    score: float
    lat: Latitude
    """Latitude of the object in degrees, as estimated at the time."""
    lng: Longitude
    new: bool
    """True if the object was seen for the first time."""
    picture: RunFile | Literal[""]
    """Path, within the run's folder, of the view with the object marked; empty if not kept."""


class StartRecord(Record):
    """The first record of a journal: agent, city, mind and all options of the run."""

    kind: Literal["start"] = "start"
    seq: int = 0
    format: int = FORMAT
    virl: str
    """Version of virl with a digest of its code; without digest in older runs."""
    agent: str
    city: str
    mind: str
    seed: int
    started: str
    """Time when the run began: UTC, ISO 8601."""
    id: str = ""
    """Unique id of the run, made from its folder, by which its payments are found; empty in older runs."""
    mover: str = "links"
    mover_reason: str = ""
    """Reason for the choice of the mover, in words; empty if there was no choice."""
    start_reason: str = ""
    """Reason for the start, in words; empty unless it replaces a start that the city lacks."""
    replaced: tuple[str, ...] = ()
    """Sentences on names in the character's file that the city lacks, and on their replacements."""
    objects: dict[str, str] = {}
    """Class of each object that a program passed, by argument, such as `object: mine.Places`."""
    prompts: str = ""
    """Folder whose prompts replace the character's own of the same names; empty for none."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Device that perception models run on."""
    allow_downloads: bool = False
    access: AccessRecord = AccessRecord()
    feedback: str | None = None
    """File of what the user says during the run, or `"terminal"`; `None` for no user."""
    caller: str | None = None
    """Name of the agent that consulted this one; `None` for a run of its own."""
    decided_by: str = ""
    """Name of what decides in place of the routine, such as `your own code`; empty where the routine does."""
    routine: str | None = None
    """Name of the routine; empty if it lies beside the character's file, `None` in older journals."""
    attribution: str = ""
    """The notice for every page about the city, as in `City.notice`; in older runs, the attribution only."""
    looks: int = 1
    """Version of the looks of the views that virl drew; 0 where it drew none, 1 in older runs."""
    mind_settings: dict[str, object] = {}
    """Settings of the language model, the provider's defaults included; empty for rules."""
    character: dict[str, object]

    @property
    def who(self) -> str:
        """Name of the character; that of the agent if it has none."""
        return str(self.character.get("name") or self.agent)


class StepRecord(Record):
    """A record of one step: arrival, views, questions, and the decision where to go."""

    kind: Literal["step"] = "step"
    seq: int
    step: Count
    """Number of moves before this step; 0 at the start."""
    pose: PoseRecord
    distance_m: Metres
    """Metres walked from the previous step."""
    views: tuple[ViewRecord, ...] = ()
    asked: tuple[ExchangeRecord, ...] = ()
    places: tuple[PlaceRecord, ...] = ()
    objects: tuple[ObjectRecord, ...] = ()
    crossing: bool = False
    decided: str
    """The decision on the next action with its reason, in a sentence."""
    decided_by: str = ""
    """Name of who decides in place of the agent, such as `user` for the user; empty for the agent."""
    next_pano_id: str | None = None
    """Id of the panorama that the agent goes to; `None` if the agent stops."""
    outcome: Outcome | None = None
    """End of the walk, if it ends at this step; `None` otherwise, and in journals of earlier versions."""
    seconds: Seconds = 0.0
    requests: RequestsRecord = RequestsRecord()


class InterruptedRecord(Record):
    """Payments in steps cut short by a kill or an error, which have no step record."""

    usd: Usd = 0.0
    sent: dict[str, Count] = {}
    """Number of requests to providers, by endpoint."""
    llm_calls: Count = 0
    input_tokens: Count = 0
    output_tokens: Count = 0

    @property
    def is_something(self) -> bool:
        """Return whether anything was paid or requested."""
        return bool(self.usd or self.sent or self.llm_calls)


class CostRecord(Record):
    """The cost of a run, or of a part of it: dollars, model calls, tokens, views, requests and seconds."""

    usd: Usd = 0.0
    """US dollars paid for models and providers together."""
    llm_calls: Count = 0
    """Number of requests sent to models, repeats included."""
    llm_cached: Count = 0
    """Number of questions answered from the reply cache."""
    input_tokens: Count = 0
    output_tokens: Count = 0
    views: Count = 0
    """Number of views looked at."""
    requests: RequestsRecord = RequestsRecord()
    """Counts and costs of requests to map services on the network."""
    interrupted: InterruptedRecord = InterruptedRecord()
    """The part of the cost that was paid in steps cut short."""
    seconds: Seconds = 0.0
    """Seconds of work, without pauses between a kill and its resume."""


class NoteRecord(Record):
    """A record of work other than a step: a candidate weighed, a tool called, an agent consulted."""

    kind: Literal["note"] = "note"
    seq: int
    topic: str
    """Kind of work, such as `"candidate"`."""
    key: str
    """Key of the note, unique within its topic."""
    title: str = ""
    """Name of the thing that the note is about; empty if the text has it."""
    text: str
    """Outcome of the work, in a sentence or two."""
    data: dict[str, object] = {}
    """Data from which the routine resumes after this note."""
    views: tuple[ViewRecord, ...] = ()
    asked: tuple[ExchangeRecord, ...] = ()
    cost: CostRecord | None = None
    """Cost of the agent that was consulted; `None` for other work."""
    seconds: Seconds = 0.0
    requests: RequestsRecord = RequestsRecord()

    @property
    def sentence(self) -> str:
        """The title and the text as one sentence."""
        return f"{self.title}: {self.text}" if self.title else self.text


class PartRecord(Record):
    """A part of a run whose records one version of virl made."""

    seq: int
    """Sequence number of the part's first record."""
    step: Count
    """Number of the part's first step."""
    virl: str
    """Version of virl, with a digest of its code unless the run is older than these digests."""


class WordsRecord(Record):
    """Words of the wish that drove a run, grouped by whether rules understood them."""

    understood: tuple[str, ...]
    not_understood: tuple[str, ...] = ()
    """Words that rules did not understand, so that they had no effect, such as small talk."""

    def __str__(self) -> str:
        """Return the sentence that lists the words understood and not understood."""
        understood, left = (
            ", ".join(f'"{one}"' for one in each) for each in (self.understood, self.not_understood)
        )
        return f"Understood: {understood}; not understood: {left or 'nothing'}."


class Result(Record):
    """The result of a run, also written as `result.json`."""

    agent: str
    city: str
    notice: str = ""
    """Notice on the city's data, as in `City.notice`; empty for none."""
    status: Status
    steps: Count
    distance_m: Metres
    place: PlaceRecord | None = None
    found: dict[str, Count] = {}
    """Number of things counted, by kind."""
    answer: dict[str, object] = {}
    """Answer that the agent was to find, as data for programs."""
    files: tuple[RunFile, ...] = ()
    """Paths, within the run's folder, of the files that the agent made."""
    left_out: tuple[Omission, ...] = ()
    """Items and fields that could not be read in replies and files, and places out of reach."""
    reason: str
    """Outcome of the run as a sentence."""
    outcome: Outcome | None = None
    """Outcome of the run as a typed value; `None` in journals of earlier versions."""
    words: WordsRecord | None = None
    """Words of the wish that rules understood, and others; `None` if a model decided, or without a wish."""
    claims: tuple[Claim, ...] = ()
    """Claims of the agent that are compared with the truth where the city has one."""
    truth: ToldTruth | None = None
    """Claims compared with a drawn city's truth, in `result.json` only; `None` elsewhere."""
    cost: CostRecord
    versions: dict[str, str]
    parts: tuple[PartRecord, ...] = ()
    """Stretches of the run, each recorded by one version of virl, in order; empty in older journals."""

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
    """The journal's last record, written when the run ends."""

    kind: Literal["end"] = "end"
    seq: int
    result: Result
    asked: tuple[ExchangeRecord, ...] = ()
    """Questions put to minds since the previous record."""
    exhibits: tuple[Exhibit, ...] = ()
    """Exhibits that the report shows of the run, such as tables and maps."""


AnyRecord = StartRecord | StepRecord | NoteRecord | EndRecord
ANY_RECORD: TypeAdapter[AnyRecord] = TypeAdapter(Annotated[AnyRecord, Field(discriminator="kind")])
