"""Which cells answer for which thing, and how far off their answers are.

Task-aligned assignment (TOOD, Feng et al. 2021): the cells inside a thing's box whose score and box fit it
best answer for it; they learn to score as well as their boxes fit.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from virl.train.detector.network import Outputs

BEST = 10  # cells a thing; TOOD takes 13, YOLOv8 10
SCORE_POWER, FIT_POWER = 0.5, 6.0  # of the alignment, as YOLOv8's
BOX_WEIGHT, CLASS_WEIGHT = 2.0, 1.0  # chosen
ALPHA, GAMMA = 0.75, 2.0  # of negatives: varifocal loss (Zhang et al. 2021, section 4.1)


@dataclass(frozen=True, slots=True)
class PictureTarget:
    """What is in one picture.

    Args:
        boxes: in pixels, (n, 4).
        classes: their numbers, (n,).
        counts: which of them count, (n,); the others are neither right nor wrong to find.
    """

    boxes: Tensor
    classes: Tensor
    counts: Tensor


def detection_loss(outputs: Outputs, targets: list[PictureTarget], middles: Tensor) -> tuple[Tensor, Tensor]:
    """Class loss and box loss of n pictures.

    Args:
        outputs: of the network.
        targets: of each picture.
        middles: of the cells, pixels, (m, 2).
    """
    scores = outputs.logits.detach().sigmoid()
    wanted = torch.zeros_like(outputs.logits)
    free = torch.zeros_like(outputs.logits, dtype=torch.bool)
    misfit, total = outputs.boxes.new_zeros(()), outputs.boxes.new_zeros(())
    for i, target in enumerate(targets):
        boxes, classes = target.boxes[target.counts], target.classes[target.counts]
        rest = ~target.counts
        others, cells = torch.nonzero(_inside(middles, target.boxes[rest]), as_tuple=True)
        free[i, cells, target.classes[rest][others]] = True
        if not len(boxes):
            continue
        with torch.no_grad():
            cells, things, quality = assign(scores[i], outputs.boxes[i], boxes, classes, middles)
        wanted[i, cells, classes[things]] = quality
        free[i, cells, classes[things]] = False
        fit = generalized_iou(outputs.boxes[i, cells], boxes[things])
        misfit = misfit + ((1 - fit) * quality).sum()
        total = total + quality.sum()
    weight = torch.where(wanted > 0, wanted, ALPHA * outputs.logits.sigmoid().detach() ** GAMMA)
    weight = weight.masked_fill(free, 0.0)
    entropy = functional.binary_cross_entropy_with_logits(outputs.logits, wanted, reduction="none")
    total = total.clamp(min=1.0)
    return CLASS_WEIGHT * (entropy * weight).sum() / total, BOX_WEIGHT * misfit / total


def assign(
    scores: Tensor, found: Tensor, boxes: Tensor, classes: Tensor, middles: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The cells of one picture that answer for something.

    Args:
        scores: of the cells, (m, classes).
        found: their boxes, (m, 4).
        boxes: of n things, (n, 4).
        classes: of the things, (n,).
        middles: of the cells, (m, 2).

    Returns:
        Cells, the thing of each, and how well each should score, (k,) each.
    """
    inside = _inside(middles, boxes)
    # A thing too small to hold the middle of a cell gets the cell that is nearest.
    nearest = torch.cdist((boxes[:, :2] + boxes[:, 2:]) / 2, middles).argmin(1)
    inside[torch.arange(len(boxes)), nearest] = True
    overlap = iou(boxes[:, None], found[None]).clamp(min=1e-6)
    align = scores[:, classes].T ** SCORE_POWER * overlap**FIT_POWER * inside
    # Cells inside come before all others, even where their boxes do not fit at all.
    best = (align + inside * 1e-12).topk(min(BEST, align.shape[1]), dim=1).indices
    chosen = torch.zeros_like(inside).scatter_(1, best, value=True) & inside
    rank = torch.where(chosen, overlap + 1e-3, torch.zeros_like(overlap))
    thing = rank.argmax(0)
    cells = torch.nonzero(chosen.any(0)).squeeze(1)
    things = thing[cells]
    mine = torch.zeros_like(chosen)
    mine[things, cells] = True
    top_align = (align * mine).amax(1).clamp(min=1e-12)
    top_overlap = (overlap * mine).amax(1)
    quality = align[things, cells] / top_align[things] * top_overlap[things]
    return cells, things, quality.clamp(min=1e-4)


def iou(a: Tensor, b: Tensor) -> Tensor:
    """Intersection over union of boxes (..., 4), broadcast."""
    shared, union, _ = _overlap(a, b)
    return shared / union


def generalized_iou(a: Tensor, b: Tensor) -> Tensor:
    """GIoU (Rezatofighi et al. 2019) of boxes (..., 4), broadcast."""
    shared, union, hull = _overlap(a, b)
    return shared / union - (hull - union) / hull


def _overlap(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Shared area, area of the union, and area of the box around both."""
    low, high = torch.maximum(a[..., :2], b[..., :2]), torch.minimum(a[..., 2:], b[..., 2:])
    shared = (high - low).clamp(min=0).prod(-1)
    union = (a[..., 2:] - a[..., :2]).prod(-1) + (b[..., 2:] - b[..., :2]).prod(-1) - shared
    around = torch.maximum(a[..., 2:], b[..., 2:]) - torch.minimum(a[..., :2], b[..., :2])
    return shared, union.clamp(min=1e-6), around.prod(-1).clamp(min=1e-6)


def _inside(middles: Tensor, boxes: Tensor) -> Tensor:
    """Which middles (m, 2) lie in which boxes (n, 4), (n, m)."""
    low = middles[None] > boxes[:, None, :2]
    return (low & (middles[None] < boxes[:, None, 2:])).all(-1)
