"""One package for each benchmark."""
