"""Skips the test module that imports this where the extra `learn` is not installed."""

import pytest

for _name in ("stable_baselines3", "minari"):
    pytest.importorskip(_name, reason="the extra `learn` is not installed")
