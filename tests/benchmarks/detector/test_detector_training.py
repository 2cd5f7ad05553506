"""A tiny training from end to end; stopped and resumed, it gives the same curve."""

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra `train` is not installed")

from benchmarks.perf.detector.export import export, load_network  # noqa: E402
from benchmarks.perf.detector.network import STRIDES, DetectorNetwork, cell_middles  # noqa: E402
from benchmarks.perf.detector.restart import load_exported  # noqa: E402
from benchmarks.perf.detector.training import (  # noqa: E402
    CROP,
    PictureTarget,
    Recipe,
    Training,
    crop,
    detection_loss,
    generalized_iou,
    iou,
    weather,
)
from benchmarks.perf.detector.views import Sample, Views  # noqa: E402
from virl.errors import BadInput  # noqa: E402
from virl.platform.perception.detectors.rendered import (  # noqa: E402
    CLASSES,
    INPUT_SIDE,
    RenderedDetector,
    RenderedSettings,
)

TINY = Recipe(cycles=(4, 2), batch=2, first_views=2, views_a_step=0.0, warm_up=2, log_every=1, keep_every=3)


@pytest.fixture(scope="module")
def views(tmp_path_factory: pytest.TempPathFactory) -> Views:
    """Two views that the renderer has drawn of a made town."""
    from benchmarks.perf.detector.views import draw_views

    folder = tmp_path_factory.mktemp("views")
    draw_views(folder, ["101"], seed=0, count=2)
    return Views(folder, ["101"], seed=0, count=2)


def curve(folder: Path) -> list[float]:
    """Class loss and box loss by turns."""
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [line[loss] for line in lines for loss in ("class_loss", "box_loss")]


def test_a_resumed_training_gives_the_same_curve(views: Views, tmp_path: Path) -> None:
    Training(tmp_path / "whole", views, TINY).run()
    Training(tmp_path / "parts", views, TINY).run(until=4)
    resumed = Training(tmp_path / "parts", views, TINY)
    assert resumed.step == 4
    resumed.run()
    assert len(curve(tmp_path / "whole")) == 2 * 6
    assert curve(tmp_path / "parts") == pytest.approx(curve(tmp_path / "whole"), abs=2e-4)


def test_a_checkpoint_of_another_recipe_is_refused(views: Views, tmp_path: Path) -> None:
    Training(tmp_path, views, TINY).run(until=3)
    with pytest.raises(BadInput, match="another recipe"):
        Training(tmp_path, views, Recipe(cycles=(7,)))


def test_the_exported_network_gives_what_torch_gives(views: Views, tmp_path: Path) -> None:
    Training(tmp_path, views, TINY).run(until=3)
    assert export(tmp_path / "checkpoint.pt", tmp_path / "tiny.onnx") < 1e-3
    settings = RenderedSettings(
        kind="rendered", weights=str(tmp_path / "tiny.onnx"), min_score=0.0, max_overlap=0.6,
        only_drawn=True, batch=2, threads=1, first_look=0.3, second_look=0.4,
    )  # fmt: skip
    picture = views[0].picture[:INPUT_SIDE, :INPUT_SIDE]
    (found,) = RenderedDetector(settings).find([picture])
    with torch.no_grad():
        seen = torch.from_numpy(np.ascontiguousarray(picture)).permute(2, 0, 1)[None].float()
        right = load_network(tmp_path / "checkpoint.pt")(seen)
    assert np.abs(found.scores - right.logits.sigmoid()[0].numpy().ravel()).max() < 1e-3


def test_an_exported_network_goes_on_where_it_was(views: Views, tmp_path: Path) -> None:
    Training(tmp_path / "first", views, TINY).run()
    old = load_network(tmp_path / "first" / "checkpoint.pt")
    export(tmp_path / "first" / "checkpoint.pt", tmp_path / "tiny.onnx")
    pictures = torch.from_numpy(np.random.default_rng(1).integers(0, 256, (4, 3, 320, 320))).float()
    again = load_exported(tmp_path / "tiny.onnx", pictures)
    with torch.no_grad():
        wanted = old(pictures)
        for training in (False, True):  # training takes the pictures' own mean and variance
            again.train(training).head.eval()  # the head's are those of all levels together
            given = again(pictures)
            assert given.logits.numpy() == pytest.approx(wanted.logits.numpy(), abs=2e-3)
            assert given.boxes.numpy() == pytest.approx(wanted.boxes.numpy(), abs=0.05)
    Training(tmp_path / "second", views, TINY, tmp_path / "tiny.onnx").run()
    with pytest.raises(BadInput, match="another recipe"):
        Training(tmp_path / "second", views, TINY)


def test_a_file_that_is_no_exported_network_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "odd.onnx").write_bytes(b"no network")
    with pytest.raises(BadInput, match=r"odd.onnx: not an exported network"):
        load_exported(tmp_path / "odd.onnx", torch.zeros(1, 3, 320, 320))


def test_a_file_that_is_no_checkpoint_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "checkpoint.pt").write_bytes(b"nothing")
    with pytest.raises(BadInput, match=r"checkpoint\.pt: not a checkpoint of this training") as told:
        load_network(tmp_path / "checkpoint.pt")
    assert "\n" not in str(told.value)


def test_the_loss_is_learnt_away_on_one_picture() -> None:
    torch.manual_seed(0)
    network = DetectorNetwork(len(CLASSES)).train()
    picture = torch.full((2, 3, 96, 96), 90.0)
    picture[:, :, 24:72, 32:64] = 220.0
    target = PictureTarget(torch.tensor([[32.0, 24.0, 64.0, 72.0]]), torch.tensor([3]), torch.tensor([True]))
    middles = torch.cat([cell_middles(96 // stride, 96 // stride, stride) for stride in STRIDES])
    optimizer = torch.optim.AdamW(network.parameters(), lr=2e-3)
    losses = []
    for _ in range(30):
        loss = sum(detection_loss(network(picture), [target] * 2, middles))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2


def test_overlaps_of_boxes() -> None:
    a, b = torch.tensor([0.0, 0.0, 2.0, 2.0]), torch.tensor([1.0, 0.0, 3.0, 2.0])
    assert iou(a, b).item() == pytest.approx(2 / 6)
    assert generalized_iou(a, b).item() == pytest.approx(2 / 6)
    far = torch.tensor([4.0, 0.0, 6.0, 2.0])
    assert generalized_iou(a, far).item() == pytest.approx(-4 / 12)


def test_a_crop_keeps_boxes_on_what_they_show() -> None:
    picture = np.zeros((640, 640, 3), np.uint8)
    picture[300:360, 280:400] = 255
    box = np.array([[280, 300, 400, 360]], np.float32)
    one = np.ones(1, np.float32)
    sample = Sample(picture, box, np.array([0]), one, one)
    for seed in range(12):
        seen, boxes, _, _ = crop(sample, np.random.default_rng(seed))
        assert seen.shape == (CROP, CROP, 3)
        if not len(boxes):
            continue
        rows, columns = np.nonzero(seen[..., 0] > 127)
        shown = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
        assert np.abs(boxes[0] - shown).max() <= 1.5
        assert weather(seen, np.random.default_rng(seed)).shape == seen.shape


def test_the_rate_rises_once_and_falls_in_each_cycle() -> None:
    recipe = Recipe(cycles=(100, 50), warm_up=10, rate=1.0, least_rate=0.02)
    assert (recipe.steps, recipe.rate_at(0), recipe.rate_at(9)) == (150, 0.1, 1.0)
    assert recipe.rate_at(99) < 0.03
    assert recipe.rate_at(100) == 1.0
    assert recipe.rate_at(125) == pytest.approx(0.51)
    assert recipe.rate_at(149) < 0.03
