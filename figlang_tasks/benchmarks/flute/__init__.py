"""FLUTE, figurative language inference with explanations, text only (arXiv 2205.12404)."""
