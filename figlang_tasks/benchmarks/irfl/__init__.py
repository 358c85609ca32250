"""IRFL, recognition and retrieval of pictures for figurative phrases (Yosef et al. 2023, arXiv
2303.15445).
"""
