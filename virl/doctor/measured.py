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
"""Names of the providers whose billed requests were counted, so that prices of runs are known."""


class MeasuredWork(Settings):
    """The billed requests of one kind of work, with the number of units that sent them."""

    unit: str = "run"
    """Unit of the work, such as `run` or `episode`."""
    units: int = Field(ge=1)
    moves: int = Field(default=0, ge=0)
    """Number of moves between panoramas, of all units together."""
    events: dict[str, int]
    """Numbers of billed events by SKU of `platform/providers/google.yaml`, of all units together."""

    def usd(self, settings: GoogleSettings) -> float:
        """Return the dollars of one unit at today's list prices; raise KeyError for an unlisted SKU.

        Raises:
            KeyError: there is no such SKU.
        """
        micro = sum(count * settings.skus[sku].micro_usd for sku, count in self.events.items())
        return micro / 1e6 / self.units


class MeasuredCosts(Settings):
    """The measured costs of agents and benchmarks, as `benchmarks.perf.prices` writes them."""

    measured: date
    how: str
    towns: dict[Density, str]
    agents: dict[str, dict[Density, MeasuredWork]]
    benchmarks: dict[str, dict[Density, MeasuredWork]]


@dataclass(frozen=True, slots=True)
class MeasuredPrice:
    """The price of one unit of work, by the density of the town, at today's list prices."""

    unit: str
    usd: Mapping[Density, float]
    """Dollars by the town's density (thin or dense); densities not measured are missing."""
    events: Mapping[Density, Mapping[str, float]]
    """Numbers of billed events of one unit, by the town's density and then by SKU."""


def measured_costs() -> MeasuredCosts:
    """Return the measured costs of `platform/measured_costs.yaml`.

    Raises:
        BadInput: it is broken; names line and field.
    """
    return load_settings(resources.data_folder("platform") / FILE, MeasuredCosts)


def prices(settings: GoogleSettings, costs: MeasuredCosts) -> Iterator[MeasuredPrice]:
    """Yield the price of one run of each measured agent, and of one episode of each measured benchmark."""
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
    """Return {density of the town: dollars} of an agent's run; empty if it was not measured.

    Args:
        settings: with the prices of today.
        costs: requests that were measured.
        agent: its name.
    """
    return {density: one.usd(settings) for density, one in costs.agents.get(agent, {}).items()}


def _describe_moves(work: Mapping[Density, MeasuredWork]) -> str:
    """Return words on how many moves one run or episode made in each town; empty if none moved."""
    moves = [
        f"{work[one].moves / work[one].units:.0f} moves in the {one} town" for one in DENSITIES if one in work
    ]
    return f" ({' and '.join(moves)})" if any(one.moves for one in work.values()) else ""
