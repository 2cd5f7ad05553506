"""The network: a small convolutional backbone, a feature pyramid, and one head for all its levels."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

STRIDES = (8, 16, 32)
"""Pixels of the picture along a cell's side, by level of the pyramid, the finest first."""

WIDTHS = (16, 24, 48, 96, 160)
"""Channels after each halving of the picture. Chosen so that 40 pictures a second fit a core."""

NECK = 64
"""Channels of the feature pyramid and the head. Chosen."""
EPSILON = 1e-3
"""Summand of a variance in batch normalisation. Chosen."""
PRIOR = 0.01
"""Score of every class before training, as RetinaNet's (Lin et al. 2017, section 4.1)."""


class Outputs(NamedTuple):
    """The network's outputs for n pictures of m cells each: logits and boxes."""

    logits: Tensor
    """Logits of each class, (n, m, classes)."""
    boxes: Tensor
    """Left, top, right and bottom in pixels, (n, m, 4)."""


def _conv(inside: int, outside: int, side: int = 3, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """Return a convolution with batch normalisation and ReLU, from `inside` to `outside` channels."""
    return nn.Sequential(
        nn.Conv2d(inside, outside, side, stride, side // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outside, eps=EPSILON, momentum=0.03),
        nn.ReLU(inplace=True),
    )


def _separable(channels: int) -> nn.Sequential:
    """Return a depthwise, then a pointwise convolution (Xception, Chollet 2017, section 4.7)."""
    depthwise = nn.Conv2d(channels, channels, 5, padding=2, groups=channels, bias=False)
    return nn.Sequential(depthwise, _conv(channels, channels, 1))


class Stage(nn.Module):
    """A stage that halves the size; half of the channels then go through residual blocks (CSPNet, 2020)."""

    def __init__(self, inside: int, outside: int, blocks: int) -> None:
        """Build a stage from `inside` to `outside` channels with `blocks` residual blocks."""
        super().__init__()
        half = outside // 2
        self.down = _conv(inside, outside, stride=2)
        self.split = _conv(outside, outside, 1)
        self.blocks = nn.ModuleList(_conv(half, half) for _ in range(blocks))
        self.join = _conv(half * (2 + blocks), outside, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Return features of half the height and width, from `inside` to `outside` channels."""
        parts = list(self.split(self.down(x)).chunk(2, 1))
        for block in self.blocks:
            parts.append(parts[-1] + block(parts[-1]))
        return self.join(torch.cat(parts, 1))


class Pool(nn.Module):
    """A layer that mixes features with those around by three max pools in a row (SPPF of YOLOv5)."""

    def __init__(self, channels: int) -> None:
        """Build a layer that keeps the number of channels."""
        super().__init__()
        self.narrow = _conv(channels, channels // 2, 1)
        self.pool = nn.MaxPool2d(5, 1, 2)
        self.widen = _conv(channels * 2, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Return features of the same shape, mixed with those around."""
        parts = [self.narrow(x)]
        for _ in range(3):
            parts.append(self.pool(parts[-1]))
        return self.widen(torch.cat(parts, 1))


class DetectorNetwork(nn.Module):
    """A network that finds things of so many kinds in pictures."""

    def __init__(self, classes: int) -> None:
        """Build the network for `classes` kinds of things, with random weights."""
        super().__init__()
        stem, early, *late = WIDTHS
        self.stem = nn.Sequential(_conv(3, stem, stride=2), _conv(stem, early, stride=2))
        self.stages = nn.ModuleList(
            Stage(inside, outside, blocks)
            for inside, outside, blocks in zip((early, *late), late, (2, 3, 2), strict=False)
        )
        self.pool = Pool(late[-1])
        self.lateral = nn.ModuleList(_conv(width, NECK, 1) for width in late)
        self.smooth = nn.ModuleList(_separable(NECK) for _ in late[:-1])
        self.head = nn.Sequential(_separable(NECK), _separable(NECK))
        self.classes = nn.Conv2d(NECK, classes, 1)
        self.sides = nn.Conv2d(NECK, 4, 1)
        self.scales = nn.Parameter(torch.ones(len(STRIDES)))
        nn.init.constant_(self.classes.bias, float(torch.logit(torch.tensor(PRIOR))))
        nn.init.normal_(self.classes.weight, std=0.01)
        nn.init.constant_(self.sides.bias, 1.0)

    def forward(self, pictures: Tensor) -> Outputs:
        """Return logits and boxes for pictures, RGB in [0, 255], shape (n, 3, height, width)."""
        x = self.stem(pictures / 127.5 - 1.0)
        levels = []
        for stage in self.stages:
            x = stage(x)
            levels.append(x)
        levels[-1] = self.pool(levels[-1])
        merged = [lateral(level) for lateral, level in zip(self.lateral, levels, strict=True)]
        for i in (1, 0):
            up = nn.functional.interpolate(merged[i + 1], scale_factor=2.0, mode="nearest")
            merged[i] = self.smooth[i](merged[i] + up)
        logits, boxes = [], []
        for level, stride in enumerate(STRIDES):
            seen = self.head(merged[level])
            logits.append(self.classes(seen).flatten(2).transpose(1, 2))
            sides = nn.functional.softplus(self.sides(seen) * self.scales[level]) * stride
            middle = cell_middles(sides.shape[2], sides.shape[3], stride)
            sides = sides.flatten(2).transpose(1, 2)
            boxes.append(torch.cat([middle - sides[..., :2], middle + sides[..., 2:]], 2))
        return Outputs(torch.cat(logits, 1), torch.cat(boxes, 1))


def cell_middles(rows: int, columns: int, stride: int) -> Tensor:
    """Return the middles of a level's cells, pixels (x, y), row by row, shape (rows * columns, 2).

    Args:
        rows: of the level.
        columns: of the level.
        stride: pixels a cell.
    """
    y, x = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    return (torch.stack([x, y], 2).reshape(-1, 2) + 0.5) * stride
