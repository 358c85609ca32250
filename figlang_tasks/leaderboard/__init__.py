"""A leaderboard of saved runs: what it says, its static site, and the check of runs to add."""
