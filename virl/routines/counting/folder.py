"""The names of what a counting run keeps in its folder beside the journal."""

MEMORY = "memory"
"""Folder of visual memory."""
SURVEY = "region.jsonl"
"""The file of the region navigator's questions and of the order of its walk."""
CSV, GEOJSON = "objects.csv", "objects.geojson"
