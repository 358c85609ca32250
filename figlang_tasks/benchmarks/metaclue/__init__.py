"""MetaCLUE: visual metaphors in advertisements (arXiv 2212.09898, CVPR 2023)."""
