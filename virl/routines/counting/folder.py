"""The names of what a counting run keeps in its folder beside the journal."""

MEMORY = "memory"
"""Folder of visual memory."""
SURVEY = "region.jsonl"
"""What the region navigator has asked, and the order of its walk."""
CSV, GEOJSON = "objects.csv", "objects.geojson"
