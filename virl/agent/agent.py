"""Agents: characters in a city, with a mind, senses, far sight and a record of what they do."""

from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Self

from virl.agent.character import Character
from virl.agent.character_file import LoadedCharacter
from virl.agent.run import Run
from virl.agent.user import Silent, User
from virl.errors import NoImagery
from virl.geo.globe import LatLng, bearing
from virl.journal.records import ViewRecord
from virl.mind.base import Mind
from virl.mind.prompt import OUR_PROMPTS, PromptFolder, Prompts
from virl.platform.city.city import City
from virl.platform.city.streetview import Camera, Link, Panorama, Pose, View
from virl.platform.movers.base import Mover
from virl.platform.perception.base import Senses
from virl.platform.perception.models import Models
from virl.platform.perception.road_sight import RoadSight, far_camera, sight_in

LOOK_PITCH, LOOK_FOV = 8.0, 75.0
"""Degrees of a view of a place. Chosen: it shows a front of 8 m and its sign from across a street."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """The checked parts of an agent, made before its run begins: character, city, mind, senses, mover."""

    loaded: LoadedCharacter
    """The character that the agent plays, with its file and routine."""
    city: City
    """The city that the agent is in: street view, places, maps."""
    start: Panorama
    """The panorama where the run begins."""
    mind: Mind
    """The mind that answers the agent's prompts: a model, rules or a script."""
    senses: Senses
    """The perception models that look at the agent's views."""
    models: Models
    """An opener of further perception models by name, such as a matcher."""
    mover: Mover
    """The mover, which lists the links that lead on from a pose and follows them."""
    prompts: Prompts = OUR_PROMPTS
    """The prompt folders of the agent's mind, in order: the first that has a prompt is used."""
    start_reason: str = ""
    """The reason for the start panorama, in words; empty where character or user name the start."""
    replaced: tuple[str, ...] = ()
    """Sentences on names in the character's file that the city lacks, and on their replacements."""

    @property
    def character(self) -> Character:
        """The character that the agent plays."""
        return self.loaded.character

    @property
    def source(self) -> Path:
        """The character's file; relative paths in it start from the file's folder."""
        return self.loaded.source

    def with_prompts(self, folder: str) -> Self:
        """Return the assembly with a folder's prompts used before its own; unchanged for an empty path."""
        if not folder:
            return self
        package = next((one.package for one in self.prompts.folders), "")
        return replace(self, prompts=Prompts((PromptFolder(Path(folder), package), *self.prompts.folders)))

    def agent(self, run: Run, user: User | None = None) -> "Agent":
        """Return the agent that acts in a run; `user` may speak up, by default nobody does."""
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        return Agent(**own, run=run, user=user or Silent())


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent(Assembly):
    """A character in a city, with a mind, senses and a record of what it does."""

    run: Run
    """The run's journal and limits."""
    user: User = field(default_factory=Silent)
    """The user, who may give feedback between two pieces of work."""

    @property
    def start_pose(self) -> Pose:
        """The pose at the start, with the character's heading, else the panorama's own."""
        heading = self.character.heading
        return Pose(self.start.id, self.start.heading if heading is None else heading)

    def keep_view_of(self, position: LatLng, panorama: Panorama, caption: str) -> tuple[ViewRecord, ...]:
        """Return the view from a panorama to a position, kept in the run's folder; empty if none is kept.

        Args:
            position: of what is looked at.
            panorama: from which it is looked at.
            caption: a line below the view.
        """
        camera = Camera(bearing(panorama.position, position), LOOK_PITCH, LOOK_FOV)
        with suppress(NoImagery):
            if self.run.keeps_views:
                return self.run.keep(self.city.streetview.view(panorama.id, camera), "look", caption=caption)
        return ()


FRONT_FINDER = "front-finder"
"""Name of the perception model that detects shopfronts."""


class FarEyes:
    """A describer of what lies far down a road, judged from the pixels of street views."""

    def __init__(self, agent: Assembly) -> None:
        """Open the agent's shopfront detector; views are taken in the agent's city."""
        self._streetview = agent.city.streetview
        self._finder = agent.models.keeping_detector(FRONT_FINDER)
        self.looks_far = agent.city.ledger is None or agent.city.capabilities.is_drawn
        """True if new views are free, so that `look_far` may be called."""

    def look_far(self, panorama: Panorama, link: Link) -> RoadSight:
        """Take a new view from a panorama toward a link, and return what is seen far down the road."""
        return self.glimpse(self._streetview.view(panorama.id, far_camera(link.heading)), panorama)

    def glimpse(self, view: View, panorama: Panorama) -> RoadSight:
        """Return what is seen far down the road in a view that was taken at a panorama."""
        return sight_in(view, panorama.position, self._finder)
