"""From a checkpoint to the ONNX file that `rendered` runs."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.perf.detector.network import DetectorNetwork
from benchmarks.perf.detector.training import read_checkpoint
from virl.errors import BadInput
from virl.extras import module
from virl.platform.perception.detectors.rendered import CLASSES, INPUT_SIDE

OPSET = 18
"""Version of ONNX's operator set."""
TOLERANCE = 2e-3
"""Greatest difference between ONNX's and torch's outputs: of scores, and of boxes as shares of the side."""


class Looking(nn.Module):
    """The network as it is exported: from RGB pictures to scores and boxes."""

    def __init__(self, network: DetectorNetwork) -> None:
        """Take the trained network to export."""
        super().__init__()
        self.network = network

    def forward(self, pictures: Tensor) -> tuple[Tensor, Tensor]:
        """Return scores, (n, m, classes), and boxes in pixels, (n, m, 4), of RGB (n, height, width, 3)."""
        outputs = self.network(pictures.permute(0, 3, 1, 2).float())
        return outputs.logits.sigmoid(), outputs.boxes


def load_network(checkpoint: Path) -> DetectorNetwork:
    """Return the network with the averaged weights of a checkpoint, ready to look.

    Raises:
        BadInput: the file is missing, or is no checkpoint.
    """
    network = DetectorNetwork(len(CLASSES))
    network.load_state_dict(read_checkpoint(checkpoint)["average"])
    return network.eval()


def export(checkpoint: Path, file: Path) -> float:
    """Write a checkpoint's network as ONNX; return its largest difference from torch's outputs.

    Raises:
        BadInput: the file is no checkpoint, or the exported network gives something else than torch.
    """
    looking = Looking(load_network(checkpoint)).eval()
    pictures = torch.from_numpy(
        np.random.default_rng(0).integers(0, 256, (2, INPUT_SIDE, INPUT_SIDE, 3), np.uint8)
    )
    program = torch.onnx.export(
        looking,
        (pictures,),
        input_names=["pictures"],
        output_names=["scores", "boxes"],
        dynamic_shapes=({0: torch.export.Dim("views", min=1, max=256)},),
        opset_version=OPSET,
        dynamo=True,
        verbose=False,
    )
    model = program.model_proto
    for key, value in (("classes", ",".join(CLASSES)), ("licence", "Apache-2.0")):
        model.metadata_props.add(key=key, value=value)
    module("onnx", extra="train").save(_plain(model), str(file))
    difference = _difference(looking, pictures, file)
    if difference > TOLERANCE:
        raise BadInput(f"{file} differs from the checkpoint by {difference:.2g}: more than {TOLERANCE:g}")
    return difference


def _plain(model: Any) -> Any:
    """Return the ONNX model without notes on source lines, which hold paths of this machine."""
    for node in model.graph.node:
        del node.metadata_props[:]
        node.doc_string = ""
    for value in (*model.graph.value_info, *model.graph.input, *model.graph.output):
        del value.metadata_props[:]
    for tensor in model.graph.initializer:
        del tensor.metadata_props[:]
    del model.graph.metadata_props[:]
    return model


def _difference(looking: Looking, pictures: Tensor, file: Path) -> float:
    """Return the largest difference between ONNX's and torch's outputs; boxes as shares of the side."""
    session = module("onnxruntime", extra="train").InferenceSession(
        str(file), providers=["CPUExecutionProvider"]
    )
    scores, boxes = session.run(None, {"pictures": pictures.numpy()})
    with torch.no_grad():
        right_scores, right_boxes = looking(pictures)
    return max(
        float(np.abs(scores - right_scores.numpy()).max()),
        float(np.abs(boxes - right_boxes.numpy()).max()) / INPUT_SIDE,
    )
