"""Models that take no pictures: what stands in their place, and that it is said once."""

from collections.abc import Sequence

import numpy as np
import pytest
from strict_models import ModelServer, says
from test_strict_apis import KEY_VARIABLES, PROVIDERS, ROAD, ROADS, mind_at

from virl.errors import BadInput
from virl.mind.prompt import load_prompt
from virl.mind.replies import Text
from virl.platform.city.streetview import Camera, View

BLACK = np.zeros((48, 64, 3), np.uint8)
FIRST, SECOND = (View(name, Camera(heading), BLACK) for name, heading in (("a", 0), ("b", 90)))
VIEWS = {"Road 0": FIRST, "Road 1": SECOND}
ANSWER = says({"index": 0, "reason": "r"})


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEY_VARIABLES:
        monkeypatch.setenv(name, f"marker-of-{name.lower()}-0123456789")


def describe(views: Sequence[View]) -> list[str]:
    return [f"an inn >>> at {view.pano_id}" for view in views]


@PROVIDERS
@pytest.mark.parametrize("query", ["", "?pictures=no"], ids=["refused", "set"])
def test_a_text_only_model_gets_what_the_describer_says(
    provider: str, query: str, caplog: pytest.LogCaptureFixture
) -> None:
    with ModelServer(provider, [ANSWER], sees=False) as server:
        mind = mind_at(server, query)
        mind.describe_by(describe)
        for intention in ("lunch", "tea"):
            assert mind.ask(ROAD, images=VIEWS, **ROADS | {"intention": intention}).index == 0
        assert len(server.refusals) == (0 if query else 1), "one request is refused, and remembered"
    for request in server.requests:
        asked = request.text.replace("\\n", "\n")
        assert "Road 0, described:\n<<<DATA\nan inn \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}" in asked
        assert asked.index("at a\nDATA>>>") < asked.index("Road 1, described:") < asked.index("at b\nDATA>>>")
    first, second = mind.ledger.take_asked()
    said = f"{mind.name} takes no pictures: they are described in words"
    assert said in first.remark
    assert second.remark == "", "it is said once"
    assert caplog.text.count(said) == 1


def test_without_a_describer_and_for_pictures_that_are_no_views_they_are_left_out() -> None:
    with ModelServer("openai", [ANSWER], sees=False) as server:
        blind = mind_at(server, "?pictures=no")
        blind.ask(ROAD, images=VIEWS, **ROADS)
        told = mind_at(server, "?pictures=no")
        told.describe_by(describe)
        told.ask(ROAD, images=[BLACK], **ROADS)
        assert "2 pictures belong here" in server.requests[0].text
        assert "A picture belongs here" in server.requests[1].text
    [exchange] = blind.ledger.take_asked()
    assert exchange.remark == f"{blind.name} takes no pictures: they are left out"


def test_a_model_that_sees_gets_pictures_and_no_descriptions(caplog: pytest.LogCaptureFixture) -> None:
    with ModelServer("openai", [ANSWER]) as server:
        mind = mind_at(server)
        mind.describe_by(describe)
        mind.ask(ROAD, images=VIEWS, **ROADS)
        assert "described:" not in server.requests[0].text
        assert server.requests[0].text.count('"image_url":') == 2
    [exchange] = mind.ledger.take_asked()
    assert exchange.remark == ""
    assert not caplog.text


def test_a_question_about_pictures_says_what_to_change() -> None:
    prompt = load_prompt("senses/describe-view", Text)
    with (
        ModelServer("openai", [says("A street.")], sees=False) as server,
        pytest.raises(BadInput, match=r"another model, or a describer that asks none \(`senses: ") as caught,
    ):
        mind_at(server).ask(prompt, images=[BLACK], question="")
    assert "\n" not in str(caught.value)
