"""The renderer of a town, made for its first picture: its compiled code takes half a second to load."""

from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

from virl.extras import require
from virl.towns.plan.town_plan import CityPlan

if TYPE_CHECKING:
    from virl.towns.render.renderer import CityRenderer

RendererOf = Callable[[], "CityRenderer"]
"""A function that returns the renderer of a town, always the same."""


def check_drawing() -> None:
    """Refuse to draw without the packages that it takes.

    Raises:
        ModelUnavailable: one is not installed.
    """
    require("eyes", "cv2", "numba", what="drawing a town")


def renderer_on_demand(plan: CityPlan) -> RendererOf:
    """Return a function that makes the renderer of a plan on its first call. Safe for several threads."""
    lock = Lock()

    @cache
    def make() -> "CityRenderer":
        """Return a new renderer, whose kernels begin to be compiled if they are not yet."""
        check_drawing()
        from virl.towns.render.ahead import compile_ahead  # noqa: PLC0415
        from virl.towns.render.renderer import CityRenderer  # noqa: PLC0415

        compile_ahead()
        return CityRenderer(plan)

    def renderer() -> "CityRenderer":
        """Return the renderer, made by the first of several threads."""
        with lock:
            return make()

    return renderer
