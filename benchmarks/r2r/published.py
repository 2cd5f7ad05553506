"""The metrics as they are shown, and the results that others published. None of those was run here."""

from virl.bench.benchmark import Metric, Published

METRICS = (
    Metric("trajectory_lengths", "TL m", percent=False, digits=2),
    Metric("nav_error", "NE m", percent=False, digits=2),
    Metric("oracle_error", "oracle error m", percent=False, digits=2, aside=True),
    Metric("oracle_success", "OSR"),
    Metric("success", "SR"),
    Metric("spl", "SPL"),
    Metric("nDTW", "nDTW", percent=False, digits=2),
    Metric("SDTW", "SDTW", percent=False, digits=2),
    Metric("CLS", "CLS", percent=False, digits=2),
)

NAVGPT = Published(
    "NavGPT, GPT-4",
    {"trajectory_lengths": 11.45, "nav_error": 6.46, "oracle_success": 0.42, "success": 0.34, "spl": 0.29},
    "Zhou et al. 2023, table 1",
    "val_unseen",
)
