"""The rows of V-IRL's table 3: real streets, other data, their ten types for AR10."""

from virl.bench.benchmark import Published

_SOURCE = "V-IRL, table 3"

PUBLISHED = (
    Published("GroundingDINO", {"ar10": 0.025, "ar20": 0.012}, _SOURCE),
    Published("OWL-ViT", {"ar10": 0.067, "ar20": 0.044}, _SOURCE),
    Published("GLIP", {"ar10": 0.060, "ar20": 0.037}, _SOURCE),
    Published("CLIP (with GLIP proposals)", {"ar10": 0.246, "ar20": 0.201}, _SOURCE),
)
