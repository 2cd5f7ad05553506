"""How many threads a network on ONNX Runtime takes."""

import os

EACH_CORE = -1  # ONNX Runtime's word for a thread for each core


def usual_threads() -> int:
    """What the environment allows: processes that run side by side must not take every core each."""
    said = os.environ.get("OMP_NUM_THREADS", "")
    return int(said) if said.isdecimal() and int(said) else EACH_CORE
