"""Readers of a model's answer: yes or no, an option, a label. Each returns a `verdict.Read`.

Every reader is pure, takes any string in linear time, and never raises on what a model wrote. None
guesses: where a careful reader would not say what is meant, there is no value, and the status says
why.
"""
