"""CII-Bench: what does a Chinese picture imply?"""
