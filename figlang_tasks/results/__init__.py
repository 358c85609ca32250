"""Finished runs: reading what a harness saved, comparing it, the papers' numbers."""
