"""The metrics as they are shown, and the results that others published. None of those was run here."""

from virl.bench.benchmark import Metric, Published

METRICS = (
    Metric("trajectory_lengths", "TL m", percent=False, about="trajectory length in metres"),
    Metric("nav_error", "NE m", percent=False, about="metres from the end to the goal"),
    Metric(
        "oracle_error",
        "oracle error m",
        percent=False,
        aside=True,
        about="metres from the goal where the walk is nearest to it",
    ),
    Metric("oracle_success", "OSR", about="oracle success: came within 3 m of the goal"),
    Metric("success", "SR", about="success: stopped within 3 m of the goal"),
    Metric("spl", "SPL", about="success weighted by path length"),
    Metric("nDTW", "nDTW", about="normalized dynamic time warping: likeness to the gold path"),
    Metric("SDTW", "SDTW", about="nDTW of walks that succeed, else 0"),
    Metric("CLS", "CLS", about="coverage weighted by length score"),
)

NAVGPT = Published(
    "NavGPT, GPT-4",
    {"trajectory_lengths": 11.45, "nav_error": 6.46, "oracle_success": 0.42, "success": 0.34, "spl": 0.29},
    "Zhou et al. 2023, table 1",
    "val_unseen",
)
