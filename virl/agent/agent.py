"""Agents: characters in a city, with a mind, senses, far sight and a record of what they do."""

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Self

from virl.agent.character import Character
from virl.agent.character_file import LoadedCharacter
from virl.agent.run import Run
from virl.agent.user import Silent, User
from virl.mind.base import Mind
from virl.mind.prompt import OUR_PROMPTS, PromptFolder, Prompts
from virl.platform.city.city import City
from virl.platform.city.streetview import Link, Panorama, View
from virl.platform.movers.base import Mover
from virl.platform.perception.base import Senses
from virl.platform.perception.models import Models
from virl.platform.perception.road_sight import RoadSight, far_camera, sight_in


@dataclass(frozen=True, slots=True)
class Assembly:
    """An agent but for its record: whatever can be wrong with a character has been checked."""

    loaded: LoadedCharacter
    """The character that it plays, with its file and routine."""
    city: City
    """Its surroundings: street view, places, maps."""
    start: Panorama
    """The panorama where the run begins."""
    mind: Mind
    """The model, or the rules, that decide."""
    senses: Senses
    """The models that look at its views."""
    models: Models
    """An opener of further models by name, such as a matcher."""
    mover: Mover
    """The mover that says which ways lead on from a pose, and takes them."""
    prompts: Prompts = OUR_PROMPTS
    """The prompts that are sent to its mind."""
    start_reason: str = ""
    """The reason for the panorama where the run begins; empty where the character or the user says where."""
    replaced: tuple[str, ...] = ()
    """Sentences on what the character's file names and the city lacks, and what stands in for it."""

    @property
    def character(self) -> Character:
        """The character that it plays."""
        return self.loaded.character

    @property
    def source(self) -> Path:
        """The character's file: paths in it are seen from there."""
        return self.loaded.source

    def with_prompts(self, folder: str) -> Self:
        """Return it with prompts of a folder before its own; an empty name changes nothing."""
        if not folder:
            return self
        package = next((one.package for one in self.prompts.folders), "")
        return replace(self, prompts=Prompts((PromptFolder(Path(folder), package), *self.prompts.folders)))

    def agent(self, run: Run, user: User | None = None) -> "Agent":
        """Return the agent of a run.

        Args:
            run: its record.
            user: who may speak up; by default nobody does.
        """
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        return Agent(**own, run=run, user=user or Silent())


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent(Assembly):
    """A character in a city, with a mind, senses and a record of what it does."""

    run: Run
    """Its journal, and the limits of the run."""
    user: User = field(default_factory=Silent)
    """The user, who may speak up between two pieces of work."""


FRONT_FINDER = "front-finder"
"""Name of the detector of fronts."""


class FarEyes:
    """A describer that sees down roads by pixels alone; where views are paid, only in those taken anyway.

    Args:
        agent: who looks.
    """

    def __init__(self, agent: Assembly) -> None:
        self._streetview = agent.city.streetview
        self._finder = agent.models.keeping_detector(FRONT_FINDER)
        self.looks_far = agent.city.ledger is None or agent.city.capabilities.is_drawn

    def look_far(self, panorama: Panorama, link: Link) -> RoadSight:
        """Return the sight far down a road, in a view of its own."""
        return self.glimpse(self._streetview.view(panorama.id, far_camera(link.heading)), panorama)

    def glimpse(self, view: View, panorama: Panorama) -> RoadSight:
        """Return the sight in a view that was taken already."""
        return sight_in(view, panorama.position, self._finder)
