"""FLUTE, figurative language inference with explanations, text only (Chakrabarty et al., arXiv
2205.12404).
"""
