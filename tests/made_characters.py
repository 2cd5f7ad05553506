"""Character files for tests."""

from pathlib import Path

HIRO = """\
name: Hiro
age: 22
city: virlton
start: {start}
background: He trusts what the people who live there say about their kitchens.
intention: Hiro is hungry and looks for an authentic local lunch that is not spicy.
routine: hiro
limits:
  steps: {steps}
"""
PLANNER = """\
name: Imani
city: virlton
start: 98 King Lane
background: A planner.
intention: To know how bins are spread.
routine: imani
region: [[41.2506, -38.7502], [41.2506, -38.7494], [41.2516, -38.7494], [41.2516, -38.7502]]
senses: {detector: simulated}
count: {things: [trash bin, bench], background: [mailbox]}
limits: {steps: 200}
"""


def write_hiro(folder: Path, *, steps: int = 3, start: str = "{lat: 41.25, lng: -38.75}") -> Path:
    """A copy of Hiro with limits and a start of his own."""
    path = folder / "hiro-copy.yaml"
    path.write_text(HIRO.format(steps=steps, start=start), encoding="utf-8")
    return path
