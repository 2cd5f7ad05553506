"""The metrics as columns, and the results that others published. None of those was run here."""

from ..tables import Column, Row

COLUMNS = (
    Column("trajectory_lengths", "TL m"),
    Column("nav_error", "NE m"),
    Column("oracle_success", "OSR %", percent=True, digits=1),
    Column("success", "SR %", percent=True, digits=1),
    Column("spl", "SPL %", percent=True, digits=1),
    Column("nDTW", "nDTW"),
    Column("SDTW", "SDTW"),
    Column("CLS", "CLS"),
)

NAVGPT = Row(
    "NavGPT, GPT-4",
    {"trajectory_lengths": 11.45, "nav_error": 6.46, "oracle_success": 0.42, "success": 0.34, "spl": 0.29},
    "published, val_unseen",
)
"""NavGPT (Zhou et al. 2023), Table 1."""
