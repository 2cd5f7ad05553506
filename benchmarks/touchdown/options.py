"""What a run on Touchdown or Map2seq is asked."""

from typing import Literal

from pydantic import Field

from virl.bench.benchmark import BaseOptions
from virl.bench.walks import UserPath
from virl.platform.providers.graph.touchdown import Dataset

from .dataset import Scenario, Selection
from .vision import SightSources


class Options(BaseOptions):
    """Which episodes, and who walks."""

    agent: str = "follower"
    """`follower`, `velma`, `navgpt`, `forward`, `random`, `gold` or `shortest`."""
    data: UserPath | None = None
    """Folder of the data; by default yours (`virl data touchdown`), else an export of Virlton."""
    dataset: Dataset = "map2seq"
    """Whose instructions."""
    scenario: Scenario = "unseen"
    """Whose part of the city."""
    split: str = "dev"
    """Which split."""
    episodes: UserPath | None = None
    """A file of episodes in the same format, in place of the split."""
    mind: str = Field("rules", json_schema_extra={"envvar": "VIRL_MIND"})
    """What velma and navgpt ask: `rules`, or a chat model such as `openai:gpt-5-mini`."""
    map: bool = False
    """The follower plans on the map."""
    prior: bool = False
    """The follower uses statistics of the data set's routes."""
    compat: Literal["velma"] | None = None
    """As published: a reply of velma's model that cannot be read is a forward."""
    views: bool = False
    """navgpt reads what the panoramas show, described by the perception models."""
    shots: int = Field(2, ge=0)
    """Worked examples that velma shows to its model."""
    examples: UserPath | None = None
    """Episodes to draw them from; by default the split `train`."""
    panoramas: UserPath | None = None
    """Folder of your StreetLearn panoramas, ID.jpg each."""
    features: UserPath | None = None
    """File of embeddings of views, in place of panoramas."""
    statistics: UserPath | None = None
    """Statistics of landmark scores; needed with panoramas or features."""

    @property
    def selection(self) -> Selection:
        """Which episodes."""
        return Selection(self.data, self.dataset, self.scenario, self.split, self.episodes)

    @property
    def sight(self) -> SightSources:
        """What velma and navgpt see with."""
        return SightSources(self.panoramas, self.features, self.statistics)
