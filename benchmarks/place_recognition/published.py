"""The rows of V-IRL's table 4, recognition: photos of real places."""

from virl.bench.benchmark import Published

_SOURCE = "V-IRL, table 4"

PUBLISHED = (
    Published("CLIP ViT-B/32", {"top1": 0.182}, _SOURCE),
    Published("CLIP ViT-L/14", {"top1": 0.372}, _SOURCE),
    Published("CLIP ViT-L/14@336px", {"top1": 0.413}, _SOURCE),
    Published("OpenCLIP ViT-B/32", {"top1": 0.212}, _SOURCE),
    Published("OpenCLIP ViT-L/14", {"top1": 0.31}, _SOURCE),
    Published("EVA-02-CLIP ViT-B/16", {"top1": 0.195}, _SOURCE),
    Published("EVA-02-CLIP ViT-L/14", {"top1": 0.342}, _SOURCE),
    Published("EVA-02-CLIP ViT-L/14@336px", {"top1": 0.407}, _SOURCE),
    Published("SigLIP ViT-B/16", {"top1": 0.295}, _SOURCE),
    Published("SigLIP ViT-L/16@384px", {"top1": 0.373}, _SOURCE),
)
