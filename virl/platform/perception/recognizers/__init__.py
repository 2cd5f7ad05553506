"""Recognizers: CLIP and its kin, through OpenCLIP and through Transformers."""
