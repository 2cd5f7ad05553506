"""Agents: characters in a city, with a mind, senses and a record of what they do."""

from dataclasses import dataclass, field
from pathlib import Path

from virl.agent.character import Character
from virl.agent.run import Run
from virl.agent.user import Silent, User
from virl.mind.base import Mind
from virl.mind.prompt import OUR_PROMPTS, Prompts
from virl.platform.city import City
from virl.platform.movement.base import Mover
from virl.platform.perception.base import Senses
from virl.platform.perception.models import Models
from virl.platform.streetview import Panorama


@dataclass(frozen=True, slots=True)
class Agent:
    """A character in a city, with a mind, senses and a record of what it does."""

    source: Path
    """The character's file: paths in it are seen from there."""
    character: Character
    """Who it is."""
    city: City
    """Where it is: street view, places, maps."""
    start: Panorama
    """Where the run begins."""
    mind: Mind
    """What decides: a model, or rules."""
    senses: Senses
    """The models that look at its views."""
    models: Models
    """Opens further models by name, such as a matcher."""
    mover: Mover
    """Says which ways lead on from a pose, and takes them."""
    run: Run
    """Its journal, and the limits of the run."""
    user: User = field(default_factory=Silent)
    """Who may speak up between two pieces of work."""
    prompts: Prompts = OUR_PROMPTS
    """Where its prompts are looked for."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """An agent but for its record: whatever can be wrong with a character has been checked."""

    source: Path
    character: Character
    city: City
    start: Panorama
    mind: Mind
    senses: Senses
    models: Models
    mover: Mover
    prompts: Prompts

    def agent(self, run: Run, user: User | None = None) -> Agent:
        """The agent of a run.

        Args:
            run: its record.
            user: who may speak up; by default nobody does.
        """
        return Agent(
            self.source,
            self.character,
            self.city,
            self.start,
            self.mind,
            self.senses,
            self.models,
            self.mover,
            run,
            user or Silent(),
            self.prompts,
        )
