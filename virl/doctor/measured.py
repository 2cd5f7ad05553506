"""What runs of agents and episodes of benchmarks were billed in two towns: `platform/measured_costs.yaml`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal, get_args

from pydantic import Field

from virl import resources
from virl.platform.providers.google.settings import GoogleSettings
from virl.settings.model import Settings, load_settings

Density = Literal["thin", "dense"]
DENSITIES: tuple[Density, ...] = get_args(Density)
FILE = "measured_costs.yaml"
BILLED = frozenset({"google"})
"""Names of the providers whose bills were counted."""


class MeasuredWork(Settings):
    """The billed requests that units of one kind of work sent, and how many units."""

    unit: str = "run"
    """Unit of the work, such as `run` or `episode`."""
    units: int = Field(ge=1)
    moves: int = Field(default=0, ge=0)
    """Number of moves between panoramas, of all units together."""
    events: dict[str, int]
    """Numbers of billed events by SKU of `platform/providers/google.yaml`, of all units together."""

    def usd(self, settings: GoogleSettings) -> float:
        """Return the dollars of one unit at today's prices; raises for an SKU that is not listed any more.

        Raises:
            KeyError: there is no such SKU.
        """
        micro = sum(count * settings.skus[sku].micro_usd for sku, count in self.events.items())
        return micro / 1e6 / self.units


class MeasuredCosts(Settings):
    """The contents of `platform/measured_costs.yaml`, which `python -m benchmarks.perf.prices` writes."""

    measured: date
    how: str
    towns: dict[Density, str]
    agents: dict[str, dict[Density, MeasuredWork]]
    benchmarks: dict[str, dict[Density, MeasuredWork]]


@dataclass(frozen=True, slots=True)
class MeasuredPrice:
    """The price of a unit of work at today's list prices, by the density of the town."""

    unit: str
    usd: Mapping[Density, float]
    """Dollars by the density of the town; densities that were not measured are missing."""
    events: Mapping[Density, Mapping[str, float]]
    """Numbers of billed events of a unit by SKU, by the density of the town."""


def measured_costs() -> MeasuredCosts:
    """Return the measured costs that come with virl.

    Raises:
        BadInput: it is broken; names line and field.
    """
    return load_settings(resources.data_folder("platform") / FILE, MeasuredCosts)


def prices(settings: GoogleSettings, costs: MeasuredCosts) -> Iterator[MeasuredPrice]:
    """Yield the price of a run of each agent and of an episode of each benchmark."""
    for works in (costs.agents, costs.benchmarks):
        for name, work in works.items():
            unit = next(iter(work.values())).unit
            yield MeasuredPrice(
                f"{name}, one {unit}{_describe_moves(work)}",
                {density: round(one.usd(settings), 6) for density, one in work.items()},
                {
                    density: {sku: count / one.units for sku, count in one.events.items()}
                    for density, one in work.items()
                },
            )


def price_of_run(settings: GoogleSettings, costs: MeasuredCosts, agent: str) -> dict[Density, float]:
    """Return the dollars of an agent's run, by density of the town; empty if it was not measured.

    Args:
        settings: with the prices of today.
        costs: requests that were measured.
        agent: its name.
    """
    return {density: one.usd(settings) for density, one in costs.agents.get(agent, {}).items()}


def _describe_moves(work: Mapping[Density, MeasuredWork]) -> str:
    """Return a clause on the moves of a unit in each town; empty if nothing was moved."""
    moves = [
        f"{work[one].moves / work[one].units:.0f} moves in the {one} town" for one in DENSITIES if one in work
    ]
    return f" ({' and '.join(moves)})" if any(one.moves for one in work.values()) else ""
