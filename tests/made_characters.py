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


def write_hiro(folder: Path, *, steps: int = 3, start: str = "{lat: 41.25, lng: -38.75}") -> Path:
    """A copy of Hiro with limits and a start of his own."""
    path = folder / "hiro-copy.yaml"
    path.write_text(HIRO.format(steps=steps, start=start), encoding="utf-8")
    return path
