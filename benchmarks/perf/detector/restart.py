"""From the ONNX file that `rendered` runs to a network that is trained further."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.perf.detector.network import EPSILON, DetectorNetwork
from virl.errors import BadInput
from virl.extras import module
from virl.platform.perception.detectors.rendered import CLASSES


def load_exported(file: Path, pictures: Tensor) -> DetectorNetwork:
    """Return the network of an ONNX file that `export` wrote, ready to be trained further.

    An export folds batch normalisation into the convolution before it, but in the head, which all levels
    share. Here each folded normalisation gets the mean and variance that the pictures give it, and weights
    that undo them, so that a layer gives the same whether it looks or is trained.

    Args:
        file: to read.
        pictures: RGB in [0, 255], (n, 3, height, width), such as the network is to be trained on.

    Raises:
        BadInput: the file is no such network.
    """
    onnx = module("onnx", extra="train")
    network = DetectorNetwork(len(CLASSES))
    try:
        kept = {one.name: onnx.numpy_helper.to_array(one) for one in onnx.load(file).graph.initializer}
        network.load_state_dict(_unfolded(network, kept))
    except Exception as fault:
        raise BadInput(
            f"{file}: not an exported network ({type(fault).__name__}): give a `rendered.onnx`"
        ) from fault
    network.eval()
    hooks = [
        norm.register_forward_pre_hook(_measure)
        for name, norm in network.named_modules()
        if isinstance(norm, nn.BatchNorm2d) and f"network.{name}.running_mean" not in kept
    ]
    with torch.no_grad():
        network(pictures)
    for hook in hooks:
        hook.remove()
    return network


def _unfolded(network: DetectorNetwork, kept: dict[str, Any]) -> dict[str, Tensor]:
    """Return the state of a network from an export's arrays; normalisations that were folded only add."""
    state = network.state_dict()
    arrays = {name.removeprefix("network."): torch.tensor(array) for name, array in kept.items()}
    for name in state:
        folded = arrays.get(name.rsplit(".", 2)[0] + ".0.weight_bias")
        if name in arrays:
            state[name] = arrays[name]
        elif name == "scales":
            state[name] = torch.stack([arrays[one] for one in ("select", "select_1", "select_2")])
        elif folded is not None and name.endswith(".bias"):
            state[name] = folded
        elif folded is not None and name.endswith(".weight"):
            # The variance is 1, to which the normalisation adds its epsilon.
            state[name] = torch.full_like(state[name], (1 + EPSILON) ** 0.5)
        elif folded is None and not name.endswith("num_batches_tracked"):
            raise KeyError(name)
    return state


def _measure(norm: nn.BatchNorm2d, inputs: tuple[Tensor]) -> None:
    """Give a normalisation the mean and variance of what it gets, and keep what it gives."""
    old_mean, old_variance = norm.get_buffer("running_mean"), norm.get_buffer("running_var")
    scale = norm.weight / (old_variance + norm.eps).sqrt()
    shift = norm.bias - old_mean * scale
    variance, mean = torch.var_mean(inputs[0], (0, 2, 3), correction=0)
    norm.weight.copy_(scale * (variance + norm.eps).sqrt())
    norm.bias.copy_(shift + mean * scale)
    old_mean.copy_(mean)
    old_variance.copy_(variance)
