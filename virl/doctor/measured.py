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
"""Providers whose bills were counted."""


class MeasuredWork(Settings):
    """The billed events of one sort of work."""

    unit: str = "run"
    """Unit that was counted, such as `run` or `episode`."""
    units: int = Field(ge=1)
    moves: int = Field(default=0, ge=0)
    """Moves between panoramas, of all units together."""
    events: dict[str, int]
    """Billable events by SKU of `platform/providers/google.yaml`, of all units together."""

    def usd(self, settings: GoogleSettings) -> float:
        """Return dollars of one unit at the prices of today; an SKU that is not listed any more is an error.

        Raises:
            KeyError: there is no such SKU.
        """
        micro = sum(count * settings.skus[sku].micro_usd for sku, count in self.events.items())
        return micro / 1e6 / self.units


class MeasuredCosts(Settings):
    """`platform/measured_costs.yaml`, which `python -m benchmarks.perf.prices` writes."""

    measured: date
    how: str
    towns: dict[Density, str]
    agents: dict[str, dict[Density, MeasuredWork]]
    benchmarks: dict[str, dict[Density, MeasuredWork]]


@dataclass(frozen=True, slots=True)
class MeasuredPrice:
    """The price of a unit of work at the list prices of today."""

    unit: str
    usd: Mapping[Density, float]
    """Dollars by the density of the town; a town that was not measured is missing."""
    events: Mapping[Density, Mapping[str, float]]
    """Billable events of a unit."""


def measured_costs() -> MeasuredCosts:
    """Return the file that comes with virl.

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
    """Return dollars of a run of an agent, by how dense the town is; empty for one that was not measured.

    Args:
        settings: with the prices of today.
        costs: requests that were measured.
        agent: its name.
    """
    return {density: one.usd(settings) for density, one in costs.agents.get(agent, {}).items()}


def _describe_moves(work: Mapping[Density, MeasuredWork]) -> str:
    """Return a clause on the moves of a unit in each town; empty if it has none."""
    moves = [
        f"{work[one].moves / work[one].units:.0f} moves in the {one} town" for one in DENSITIES if one in work
    ]
    return f" ({' and '.join(moves)})" if any(one.moves for one in work.values()) else ""
