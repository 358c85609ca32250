"""NYK-MS, metaphor and sarcasm in cartoons with captions (arXiv 2409.01037)."""
