"""Fine-tunes a language model to walk: VELMA-FT and VELMA-RBL. Described in `docs/how-to/fine-tune.md`."""
