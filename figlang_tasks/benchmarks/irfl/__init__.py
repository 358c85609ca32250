"""IRFL: image recognition of figurative language (arXiv 2303.15445)."""
