"""The rows of V-IRL's table 4, VQA: photos of real places, questions by GPT-4, replies read by GPT too."""

from virl.bench.benchmark import Published

_SOURCE = "V-IRL, table 4"

PUBLISHED = (
    Published("MiniGPT-4 (Vicuna-13B-v0)", {"legacy": 0.039}, _SOURCE),
    Published("mPLUG-Owl (LLaMA-7B)", {"legacy": 0.055}, _SOURCE),
    Published("Shikra (Vicuna-7B)", {"legacy": 0.109}, _SOURCE),
    Published("BLIP-2 (FlanT5-XXL)", {"legacy": 0.696}, _SOURCE),
    Published("InstructBLIP (FlanT5-XXL)", {"legacy": 0.68}, _SOURCE),
    Published("LLaVA (Vicuna-13B-v1.3)", {"legacy": 0.235}, _SOURCE),
    Published("LLaVA-1.5 (Vicuna-7B-v1.5)", {"legacy": 0.601}, _SOURCE),
    Published("LLaVA-1.5 (Vicuna-13B-v1.5)", {"legacy": 0.619}, _SOURCE),
)
