"""DISK keypoints for LightGlue: kornia's network behind the interface that `transformers` expects.

`transformers` has no DISK of its own and runs no code from a hub for it. Importing this module imports torch;
the matcher does so for checkpoints that name DISK as their keypoint detector.
"""

from typing import Any

import torch
from kornia.feature import DISK
from transformers import AutoConfig, AutoModelForKeypointDetection, PreTrainedConfig, PreTrainedModel

MODEL_TYPE = "disk"
"""Name of DISK among the model types of `transformers`."""
MAX_KEYPOINTS = 2048  # V-IRL's matcher; without a limit a picture has some ten thousand
"""Largest number of keypoints in a picture, where the checkpoint states none."""


class DiskConfig(PreTrainedConfig):  # type: ignore[misc]
    """The configuration of DISK, as a published checkpoint's `keypoint_detector_config` gives it."""

    model_type = MODEL_TYPE
    descriptor_decoder_dim: int = 128
    """Length of a keypoint's descriptor."""
    max_num_keypoints: int | None = None
    """Largest number of keypoints in a picture; `None` for `MAX_KEYPOINTS`."""


class DiskForKeypointDetection(PreTrainedModel):  # type: ignore[misc]
    """The network DISK, which finds keypoints and their descriptors (Tyszkiewicz et al., NeurIPS 2020)."""

    config_class = DiskConfig
    main_input_name = "pixel_values"
    base_model_prefix = ""

    def __init__(self, config: DiskConfig) -> None:
        """Build the network without trained weights."""
        super().__init__(config)
        self.model = DISK(desc_dim=config.descriptor_decoder_dim)
        self.post_init()

    def forward(self, pixel_values: Any, **_: Any) -> tuple[Any, Any, Any, Any]:
        """Return (keypoints, scores, descriptors, mask) of b RGB pictures in [0, 1], (b, 3, height, width).

        Returns:
            Keypoints (x, y) as shares of the picture, shape (b, n, 2); their scores (b, n); descriptors
            (b, n, d); and which of them are no padding (b, n).
        """
        limit = self.config.max_num_keypoints or MAX_KEYPOINTS
        found = self.model(pixel_values, n=limit, pad_if_not_divisible=True)
        pad = torch.nn.utils.rnn.pad_sequence
        size = torch.tensor([pixel_values.shape[3], pixel_values.shape[2]], device=pixel_values.device)
        return (
            pad([one.keypoints for one in found], batch_first=True) / size,
            pad([one.detection_scores for one in found], batch_first=True),
            pad([one.descriptors for one in found], batch_first=True),
            pad([torch.ones(len(one.keypoints), dtype=torch.int) for one in found], batch_first=True).to(
                pixel_values.device
            ),
        )


def register() -> None:
    """Add DISK to the models that `transformers` can load from a checkpoint."""
    AutoConfig.register(MODEL_TYPE, DiskConfig, exist_ok=True)
    AutoModelForKeypointDetection.register(DiskConfig, DiskForKeypointDetection, exist_ok=True)
