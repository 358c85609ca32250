"""YesBut (Nandy et al.): is a comic of two halves satire, and why is it funny?"""
