import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from virl.errors import BadInput
from virl.platform.perception.base import Detection
from virl.platform.perception.detections import corners, to_detections, without_doubles, words_of
from virl.platform.perception.detectors.grounding_dino import label_boxes, tokens_of, write_prompt

PICTURE = np.zeros((50, 100, 3), np.uint8)


def test_labels_are_asked_for_in_plain_words_and_kept_as_they_were():
    assert words_of(["Trash Bin", "jewelry_store", " bench "], "m") == {
        "trash bin": "Trash Bin",
        "jewelry store": "jewelry_store",
        "bench": " bench ",
    }
    assert words_of(["cafe", "Cafe"], "m") == {"cafe": "cafe"}


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([], "dino finds only the labels it is given"),
        (["bin", ""], "label '' is empty"),
        (["_ _"], "label '_ _' is empty"),
        (["st. mary"], r"label 'st\. mary': dino reads '\.' as the end of a label"),
        (["bin . bench"], "as the end of a label: remove it"),
        (["what?"], r"reads '\?'"),
    ],
)
def test_labels_that_cannot_be_asked_for_are_refused(labels, message):
    with pytest.raises(BadInput, match=message):
        words_of(labels, "dino", ".?")


def test_the_prompt_parts_labels_by_dots():
    assert write_prompt(["bench"]) == ("bench .", [(0, 5)])
    prompt, spans = write_prompt(["trash bin", "bench", "bus stop"])
    assert prompt == "trash bin . bench . bus stop ."
    assert [prompt[start:end] for start, end in spans] == ["trash bin", "bench", "bus stop"]


def words_with_offsets(prompt):
    """A token for each word, and special ones around them, as a tokenizer gives them."""
    offsets, start = [(0, 0)], 0
    for word in prompt.split():
        start = prompt.index(word, start)
        offsets.append((start, start + len(word)))
        start += len(word)
    return [*offsets, (0, 0)]


def test_each_label_has_its_own_tokens():
    prompt, spans = write_prompt(["trash bin", "bin", "fire hydrant"])
    assert tokens_of(spans, words_with_offsets(prompt)) == [[1, 2], [4], [6, 7]]


@given(st.lists(st.text("abc ", min_size=1).map(str.strip).filter(bool), min_size=1, max_size=9, unique=True))
def test_tokens_of_labels_never_overlap_and_leave_only_dots(words):
    prompt, spans = write_prompt(words)
    offsets = words_with_offsets(prompt)
    used = [i for own in tokens_of(spans, offsets) for i in own]
    assert len(used) == len(set(used))
    rest = [prompt[a:b] for i, (a, b) in enumerate(offsets) if i not in used]
    assert rest == ["", *"." * len(words), ""]


def test_prompts_that_the_model_would_cut_or_not_read_are_refused():
    prompt, spans = write_prompt([f"thing n{i}" for i in range(300)])
    with pytest.raises(BadInput, match="300 labels make 902 tokens, and Grounding DINO accepts 256"):
        tokens_of(spans, words_with_offsets(prompt))
    with pytest.raises(BadInput, match="no word that"):
        tokens_of([(0, 3), (6, 9)], [(0, 0), (0, 3), (4, 5), (0, 0)])


def test_a_box_belongs_to_the_label_of_its_best_token():
    scores = np.array(
        [
            # CLS, trash, bin, dot, bin, dot, SEP
            [0.9, 0.2, 0.7, 0.9, 0.6, 0.9, 0.9],
            [0.0, 0.1, 0.3, 0.0, 0.4, 0.0, 0.0],
        ],
        np.float32,
    )
    best, labels = label_boxes(scores, [[1, 2], [4]])
    assert best == pytest.approx([0.7, 0.4])
    assert labels == [0, 1]


def test_boxes_of_middle_and_size_become_corners_in_pixels():
    found = corners(np.array([[0.5, 0.5, 0.2, 0.4], [0.0, 1.0, 0.1, 0.1]], np.float32), PICTURE)
    np.testing.assert_allclose(found, [[40, 15, 60, 35], [-5, 47.5, 5, 52.5]], atol=1e-4)


def test_detections_lie_in_the_picture_best_first():
    boxes = np.array(
        [[-5, 10, 20, 99], [30, 5, 60, 25], [200, 0, 300, 9], [9, 9, 9, 20], [0, 0, 9, 9]], np.float32
    )
    scores = np.array([0.5, 0.9, 0.8, 0.8, 0.1], np.float32)
    found = to_detections(boxes, scores, list("abcde"), PICTURE, min_score=0.3, max_overlap=None)
    assert [(one.label, one.box) for one in found] == [("b", (30, 5, 60, 25)), ("a", (0, 10, 20, 50))]


def test_absurd_boxes_and_scores_are_dropped():
    boxes = np.array([[np.nan, 0, 5, 5], [0, 0, np.inf, 5], [20, 20, 5, 5], [1, 1, 5, 5]], np.float32)
    scores = np.array([0.9, 0.9, 0.9, np.nan], np.float32)
    assert to_detections(boxes, scores, list("abcd"), PICTURE, min_score=0.0, max_overlap=0.5) == []


def test_of_doubles_the_best_stays():
    def one(label, score, left):
        return Detection(label, score, (left, 0.0, left + 10.0, 10.0))

    bins = [one("bin", 0.6, 0.0), one("bin", 0.9, 2.0), one("bin", 0.5, 30.0)]
    bench = one("bench", 0.7, 2.0)
    assert without_doubles([*bins, bench], 0.5) == [
        bins[1],
        bench,
        bins[2],
    ]  # 8/12 of the first two is shared
    assert without_doubles([*bins, bench], 0.7) == [bins[1], bench, bins[0], bins[2]]
    assert len(without_doubles([*bins, bench], None)) == 4
    assert without_doubles([], 0.5) == []
