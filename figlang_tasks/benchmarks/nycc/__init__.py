"""The New Yorker Caption Contest: which caption belongs to a cartoon, which is funnier, and why?"""
