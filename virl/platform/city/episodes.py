"""Episodes: an instruction, where it starts, and the way that it describes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InstructionEpisode:
    """One item of an instruction-following benchmark: an instruction, its start and its gold path."""

    id: str
    instruction: str
    path: tuple[str, ...]
    """The gold path: ids of the panoramas, start and target included. Its links need not exist."""
    heading: float
    """Heading of the agent at the start: degrees clockwise from north, [0, 360)."""
    scan: str = ""
    """The building of an indoor episode; empty in a city."""

    @property
    def start(self) -> str:
        """Id of the panorama where the episode starts."""
        return self.path[0]

    @property
    def target(self) -> str:
        """Id of the panorama where the episode should end."""
        return self.path[-1]
