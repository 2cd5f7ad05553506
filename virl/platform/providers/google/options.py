"""How a city asks Google."""

from typing import Literal

from pydantic import Field

from virl.platform.providers.http.settings import HOST
from virl.settings.model import Settings

Imagery = Literal["static", "tiles"]

KEPT_PANORAMAS = 8  # chosen: one of 3328x1664 pixels takes 33 MB, its borders included
NEARBY_REQUESTS = 4  # chosen: 14 cents; a square, the position, and two halves of the types
PAGE_WAIT_S = 2.0  # chosen: Google makes a legacy page ready "a short delay" after the one before


class GoogleOptions(Settings):
    """How a city asks Google; `docs/reference/google.md` says what each choice costs."""

    base_url: str | None = Field(default=None, pattern=HOST)
    """One host instead of all of Google's, such as `http://127.0.0.1:8765`; `VIRL_GOOGLE_BASE_URL` goes
    before it."""
    imagery: Imagery = "static"
    """`static`: one paid request a view. `tiles`: paid tiles of the panorama, from which views are cut."""
    zoom: int = Field(default=3, ge=0, le=5)
    """Of the tiles; 3 is 3328 pixels around for Google's own panoramas."""
    panoramas_kept: int = Field(default=KEPT_PANORAMAS, ge=1)
    """How many panoramas made of tiles are held in memory."""
    thumbnails: bool = True
    """Whether views of at most 600 by 250 pixels are thumbnails of Map Tiles, for 0.2 cents instead of 0.7;
    with `imagery: static`."""
    outdoor: bool = True
    """Whether relocation and links leave out panoramas taken indoors."""
    links: Literal["whole", "thin"] | None = None
    """Whether Google's links lead everywhere that its panoramas stand; by default looked at where a run
    starts. Where they are thin, the mover is `hybrid` unless another is asked for."""
    keep_closed: bool = False
    """Whether places closed for good are listed, as not open."""
    nearby_requests: int = Field(default=NEARBY_REQUESTS, ge=1)
    """How many requests one question for nearby places may make; with the legacy API, how many circles, of up
    to three paid requests each for each type."""
    search_pages: int = Field(default=3, ge=1, le=3)
    """How many pages of 20 places a text search may take; each is a paid request."""
    page_wait: float = Field(default=PAGE_WAIT_S, ge=0)
    """Seconds before a further page of the legacy API is asked for."""
    visual_memory: str = "street-view"
    """Settings of visual memory for agents that count here: a name in `platform/memory/`."""
    language: str | None = None
    """Of names and reviews, as a BCP 47 tag such as `en`; by default Google chooses."""
    api: Literal["new", "legacy"] | None = None
    """Which generation of Places and Routes is asked; by default that of `platform/providers/google.yaml`."""
