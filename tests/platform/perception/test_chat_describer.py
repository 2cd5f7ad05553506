import numpy as np
import pytest

from virl.errors import BadInput, ModelUnavailable
from virl.platform.city.streetview import Camera, View
from virl.platform.perception.models import ModelOptions, Models


def view(value: int, shape: tuple[int, ...] = (20, 30, 3)) -> View:
    return View("p", Camera(0), np.full(shape, value, np.uint8))


def test_each_view_is_put_to_the_model_with_the_question():
    asked = []

    def answer(question, images):
        asked.append((question, [image.shape for image in images], int(images[0][0, 0, 0])))
        return f" A wall,\n  {images[0][0, 0, 0]} bright. "

    describer = Models(ModelOptions(answer=answer)).describer("chat-describer")
    said = describer.describe([view(10), view(20, (20, 30))], "restaurant")
    assert said == ["A wall, 10 bright.", "A wall, 20 bright."]
    assert asked == [("restaurant", [(20, 30, 3)], 10), ("restaurant", [(20, 30, 3)], 20)]


def test_nothing_is_asked_about_bad_pictures():
    def answer(question, images):
        raise AssertionError

    with pytest.raises(BadInput):
        Models(ModelOptions(answer=answer)).describer("chat-describer").describe(
            [view(1), view(1, (0, 3, 3))]
        )


def test_without_a_model_it_says_how_to_name_one():
    describer = Models().describer("chat-describer")
    assert describer.describe([]) == []
    with pytest.raises(ModelUnavailable, match="--mind"):
        describer.describe([view(1)])
