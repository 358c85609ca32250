"""COLUMBUS: which word or phrase does a rebus convey?"""
