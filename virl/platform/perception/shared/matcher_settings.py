"""What every matcher's file says about telling things apart."""

from pydantic import Field

from virl.platform.perception.model_settings import ModelSettings


class MatcherSettings(ModelSettings):
    """Base of the settings of matchers: what their matches are worth to one who asks "is it the same?"."""

    min_matches: int = Field(ge=1)
    """The least number of points in common from which two crops are taken to show the same thing."""
    margin: float = Field(ge=0)
    """The margin of these crops around a detection's box on each side, as a share of its width and height."""
