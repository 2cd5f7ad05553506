"""YAML that users write: characters, cities, providers, prices, models, rules, prompts, feedback, options."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from own_prompts import all_prompts
from pydantic import BaseModel

from fuzz.mutate import mutate_bytes, mutate_lines, mutate_yaml
from fuzz.session import Kind
from virl import resources
from virl.agent.character_file import LoadedCharacter, load_character, read_fields, with_fields
from virl.agent.user import parse_line, read_feedback
from virl.mind.lexicon import Lexicon
from virl.mind.prompt import read_prompt
from virl.platform.navigators.follower.model import Parameters
from virl.platform.perception.memory.settings import MemorySettings
from virl.platform.perception.models import read_model
from virl.platform.providers.cities import city_settings
from virl.platform.providers.google.settings import GoogleSettings
from virl.platform.providers.rentcast.client import RentCastSettings
from virl.routines.day.wish_rules import DayBook
from virl.settings.model import load_settings, yaml_value

STATES = ("hunger", "joy")
FEEDBACK = b"""# what is said
- after: 2
  say: I am hungry.
  state: {hunger: 80}
- at: "12:30"
  say: "Let us eat."
"""
MODELS = (
    (GoogleSettings, "platform/providers/google.yaml", 6),
    (RentCastSettings, "platform/providers/rentcast.yaml", 3),
    (MemorySettings, "platform/memory/default.yaml", 3),
    (Parameters, "platform/movement/follower.yaml", 2),
    (DayBook, "platform/rules/day.yaml", 2),
    (Lexicon, "platform/rules/lexicon.yaml", 2),
)


@contextmanager
def yaml_kinds(folder: Path) -> Iterator[list[Kind]]:
    """The kinds; files are written into a folder."""
    root = resources.data_folder("agents").parent
    agents = [file.read_bytes() for file in sorted((root / "agents").glob("*.yaml"))]
    cities = [file.read_bytes() for file in sorted((root / "platform/cities").glob("*.yaml"))]
    yield [
        _file("yaml-character", [one for one in agents if b"\nregion:" not in one], folder, _character, 14),
        _file("yaml-city", [one for one in cities if b"region: " not in one], folder, _city, 10),
        *(_settings(model, root / path, folder, weight) for model, path, weight in MODELS),
        *_models(root / "platform/models", folder),
        *_prompts(root / "prompts", folder),
        _file("yaml-feedback", [FEEDBACK], folder, read_feedback, 8),
        Kind("set-value", [b"3", b"[1, a, {b: 2.5}]", b"some words", b"2001-01-01"], _value, mutate_bytes, 6),
        _set(next(one for one in agents if b"name: Hiro" in one), folder),
        Kind("feedback-line", [b"I am hungry hunger=90, joy=5"], _line, mutate_bytes, 4),
    ]


def _character(file: Path) -> None:
    assert LoadedCharacter(file, load_character(file)).routine


def _city(file: Path) -> None:
    city_settings(str(file))


def _value(data: bytes) -> None:
    yaml_value(data.decode("utf-8", "replace"), source="--set")


def _line(data: bytes) -> None:
    parse_line(data.decode("utf-8", "replace"), STATES)


def _file(name: str, seeds: list[bytes], folder: Path, read: Callable[[Path], object], weight: int) -> Kind:
    file = folder / f"{name}.yaml"

    def write_and_read(data: bytes) -> None:
        file.write_bytes(data)
        read(file)

    return Kind(name, seeds, write_and_read, mutate_yaml, weight)


def _settings(model: type[BaseModel], good: Path, folder: Path, weight: int) -> Kind:
    return _file(
        f"yaml-{good.stem}", [good.read_bytes()], folder, lambda file: load_settings(file, model), weight
    )


def _models(home: Path, folder: Path) -> Iterator[Kind]:
    roles = {"sign-detector": "detector", "sift": "matcher", "rapidocr": "reader", "sign-lexicon": "lexicon"}
    for name, role in roles.items():
        yield _file(
            f"yaml-model-{name}",
            [(home / f"{name}.yaml").read_bytes()],
            folder,
            lambda file, role=role: read_model(role, str(file)),  # type: ignore[misc]
            2,
        )


def _prompts(home: Path, folder: Path) -> Iterator[Kind]:
    prompts = {prompt.name: prompt for prompt in all_prompts()}
    for name in ("explore/place-type", "directions/choice", "movement/velma-action"):
        file = folder / "prompt.md"

        def read(data: bytes, name: str = name, file: Path = file) -> None:
            file.write_bytes(data)
            read_prompt(file, name, prompts[name].reply)

        good = (home / f"{name}.md").read_bytes()
        yield Kind(f"prompt-{name.replace('/', '-')}", [good], read, mutate_lines, 4)


def _set(character: bytes, folder: Path) -> Kind:
    file = folder / "hiro.yaml"
    file.write_bytes(character)
    hiro = load_character(file)

    def read(data: bytes) -> None:
        with_fields(hiro, read_fields([data.decode("utf-8", "replace")]))

    return Kind("set-field", [b"limits.steps=20", b"name=Ann", b"age=30"], read, mutate_bytes, 6)
