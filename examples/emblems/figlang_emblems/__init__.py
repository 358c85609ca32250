"""Emblems: does a picture convey a saying?"""
