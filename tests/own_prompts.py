"""The prompts that come with virl, each with the reply type that its file names."""

from pydantic import BaseModel

from virl.mind.base import Prompt
from virl.mind.prompt import load_prompt, prompt_names
from virl.registry import load
from virl.resources import data_folder
from virl.settings.model import yaml_value


def all_prompts() -> list[Prompt[BaseModel]]:
    """Return every prompt of virl's own."""
    return [load_prompt(name, _reply_type(name)) for name in prompt_names()]


def _reply_type(name: str) -> type[BaseModel]:
    """Return the reply type that a prompt file names."""
    path = data_folder("prompts") / f"{name}.md"
    header = yaml_value(path.read_text().split("---\n")[1], source=str(path))
    assert isinstance(header, dict)
    reply: type[BaseModel] = load(header["reply"])
    return reply
