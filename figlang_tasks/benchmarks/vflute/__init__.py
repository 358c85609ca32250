"""V-FLUTE, explainable visual entailment of figurative language (Saakyan et al., arXiv
2405.01474).
"""
