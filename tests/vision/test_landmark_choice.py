"""V-IRL's landmark test of LLaVA, from a checkpoint on disk to the landmark that a tourist sees."""

from pathlib import Path

import numpy as np
import PIL.Image
import pytest
import yaml

from virl.geo.globe import signed_turn
from virl.mind.prompt import OUR_PROMPTS, render
from virl.mind.replies import Text
from virl.platform.city.streetview import Camera, Pose, View
from virl.platform.navigators.tourist.spotters import NONE, ChoiceSpotter
from virl.platform.perception.models import ModelOptions, Models, read_model

for package in ("torch", "transformers"):
    pytest.importorskip(package, reason=f"needs {package}: make test-vision")

from tiny_llava import END, FIRST_WORDS, tiny_llava  # noqa: E402

NAMES = ["Red Gate", "Blue Gate"]
RED, BLUE, GREY = (200, 30, 30), (30, 30, 200), (120, 120, 120)
REPLIES = {RED: "A", BLUE: "B", GREY: "C"}
WORDS = [*FIRST_WORDS, "A", "B", "C"]


class ThreeWalls:
    """A street with a red gate in the east, a blue one in the west, and nothing else."""

    def view(self, pano_id: str, camera: Camera) -> View:
        colour = GREY
        for heading, gate in ((90.0, RED), (270.0, BLUE)):
            if abs(signed_turn(camera.heading, heading)) < 20:
                colour = gate
        return View(pano_id, camera, np.full((camera.height, camera.width, 3), colour, np.uint8))


@pytest.fixture(scope="module")
def llava(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a LLaVA that has learnt which letter answers virl's question for which colour."""
    import torch

    model, processor = tiny_llava(WORDS)
    prompt = OUR_PROMPTS.load("movement/tourist-landmark-choice", Text)
    question = render(prompt, {"options": [*NAMES, NONE]})
    texts = [f"<image> {question} so {letter}" for letter in REPLIES.values()]
    pictures = [PIL.Image.new("RGB", (64, 48), colour) for colour in REPLIES]
    given = processor(text=texts, images=pictures, return_tensors="pt", padding=True)
    letters = given["input_ids"][:, -1]
    steps = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(200):
        steps.zero_grad()
        scores = model(**given).logits
        loss = torch.nn.functional.cross_entropy(scores[:, -2], letters)
        loss = loss + torch.nn.functional.cross_entropy(scores[:, -1], torch.full_like(letters, END))
        loss.backward()
        steps.step()
    assert loss.item() < 0.1
    folder = tmp_path_factory.mktemp("llava")
    model.save_pretrained(folder / "weights")
    processor.save_pretrained(folder / "weights")
    told = yaml.safe_load(Path("platform/models/llava-1.5-7b.yaml").read_text(encoding="utf-8"))
    told |= {"weights": str(folder / "weights"), "template": "<image> {prompt} so"}
    (folder / "tiny-llava.yaml").write_text(yaml.safe_dump(told), encoding="utf-8")
    return folder / "tiny-llava.yaml"


@pytest.fixture
def spotter(llava: Path) -> ChoiceSpotter:
    describer = Models(ModelOptions(device="cpu")).describer(str(llava))
    return ChoiceSpotter(ThreeWalls(), describer, f"choice:{llava}")  # type: ignore[arg-type]


def test_the_landmarks_are_chosen_and_none_of_them_where_there_is_none(spotter: ChoiceSpotter) -> None:
    seen = spotter.spot(Pose("p", 0.0), NAMES, thorough=False)
    assert {(one.name, one.heading) for one in seen} == {("Red Gate", 90.0), ("Blue Gate", 270.0)}
    assert {one.text for one in seen} == {"A", "B"}


def test_a_letter_that_was_not_offered_is_no_landmark(spotter: ChoiceSpotter) -> None:
    """With one name, `B` is none of the above and `C` is nothing."""
    seen = spotter.spot(Pose("p", 0.0), NAMES[:1], thorough=False)
    assert {one.name for one in seen} <= {"Red Gate"}


def test_the_model_file_is_the_papers_but_for_its_weights(llava: Path) -> None:
    ours, theirs = read_model("describer", str(llava)), read_model("describer", "llava-1.5-7b")
    assert ours.model_dump(exclude={"weights", "template"}) == theirs.model_dump(
        exclude={"weights", "template"}
    )
