"""NavGPT: a language model that follows an instruction from viewpoint to viewpoint."""
