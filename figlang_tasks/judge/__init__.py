"""Explanations judged by people, or by a language model in their place.

Source: V-FLUTE (arXiv 2405.01474), section 5.
"""
