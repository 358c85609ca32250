"""Model classes for the harness, and the list of them that the entry point hands over."""
