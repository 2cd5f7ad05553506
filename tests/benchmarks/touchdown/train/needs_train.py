"""Skips the test module that imports this where the extra `train` is not installed."""

import pytest

for _name in ("torch", "transformers", "peft"):
    pytest.importorskip(_name, reason="the extra `train` is not installed")
