import re

from benchmarks.touchdown.train.chart import draw_curves


def polylines(drawing: str) -> list[list[tuple[float, float]]]:
    """The points of each line of an SVG drawing."""
    found = []
    for points in re.findall(r'<polyline points="([^"]*)"', drawing):
        pairs = [point.split(",") for point in points.split()]
        found.append([(float(x), float(y)) for x, y in pairs])
    return found


def test_losses_and_scores_lie_where_the_axes_say() -> None:
    metrics = [
        {"kind": "update", "step": 1, "loss": 4.0},
        {"kind": "update", "step": 2, "loss": 2.0},
        {"kind": "dev", "step": 2, "tc": 0.5},
        {"kind": "update", "step": 4, "loss": 0.0},
        {"kind": "dev", "step": 4, "tc": 1.0},
    ]
    drawing = draw_curves(metrics, "a <b> & c")
    assert "a &lt;b&gt; &amp; c" in drawing
    losses, scores = polylines(drawing)
    (_, top), (middle_x, middle), (right, bottom) = losses
    assert len(losses) == 3
    assert len(scores) == 2
    assert middle == (top + bottom) / 2
    assert scores[0] == (middle_x, middle)
    assert scores[1] == (right, top)


def test_a_training_without_a_step_has_an_empty_drawing() -> None:
    assert polylines(draw_curves([], "none")) == [[], []]
