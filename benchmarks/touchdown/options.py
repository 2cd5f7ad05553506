"""What a run on Touchdown or Map2seq is asked."""

from typing import Literal

from pydantic import Field

from virl.bench.benchmark import BaseOptions
from virl.bench.walks import UserPath
from virl.platform.navigators.instruction.base import PromptForm
from virl.platform.providers.graph.touchdown import Dataset

from .dataset import Scenario, Selection
from .vision import SightSources


class Options(BaseOptions):
    """Options of the episodes, and of who walks."""

    agent: str = "follower"
    """Agent to score: `follower`, `velma`, `navgpt`, `forward`, `random`, `gold`, `shortest`, or
    `human` (a person who plays)."""
    data: UserPath | None = None
    """Folder of the data: an export, or by default where `virl data touchdown` installs it."""
    dataset: Dataset = "map2seq"
    """Data set of the instructions."""
    scenario: Scenario = "unseen"
    """Scenario: which part of the city is for training."""
    split: str = "dev"
    """Split of the scenario."""
    episodes: UserPath | None = None
    """File of episodes in the same format, instead of a split."""
    mind: str = Field("rules", json_schema_extra={"envvar": "VIRL_MIND"})
    """The mind that decides for velma and navgpt: `rules`, or a chat model such as `openai:gpt-5-mini`."""
    map: bool = False
    """Let the follower plan on the map; tell velma and navgpt in words what it shows of each way."""
    signs: bool = False
    """Let the follower read signs in the panoramas, to find the landmark where it should stop."""
    recognizer: str = ""
    """Let it compare the panoramas with the landmark's name by this recognizer instead (see `virl models`),
    such as `clip-vit-b-32`."""
    prior: bool = False
    """Let the follower use statistics of the data set's routes."""
    compat: Literal["velma"] | None = None
    """Compatibility with what was published: velma moves forward when it cannot parse the model's reply."""
    form: PromptForm = "auto"
    """Form of the questions of velma and navgpt: `chat` (typed replies), `text` (as published) or `auto`."""
    views: bool = False
    """Describe the panoramas to navgpt with perception models."""
    shots: int = Field(2, ge=0)
    """Number of worked examples in velma's prompt."""
    examples: UserPath | None = None
    """File of episodes to draw worked examples from; by default the split `train`."""
    panoramas: UserPath | None = None
    """Folder of your StreetLearn panoramas, each named ID.jpg."""
    features: UserPath | None = None
    """File of view embeddings, instead of panoramas."""
    statistics: UserPath | None = None
    """File of landmark score statistics; required with panoramas or features."""

    @property
    def selection(self) -> Selection:
        """Selection of episodes that these options name."""
        return Selection(self.data, self.dataset, self.scenario, self.split, self.episodes)

    @property
    def sight(self) -> SightSources:
        """Sources of pictures and features that these options name."""
        return SightSources(self.panoramas, self.features, self.statistics)
