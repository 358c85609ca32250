"""V-FLUTE: explainable visual entailment of figurative language (arXiv 2405.01474)."""
