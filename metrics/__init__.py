"""Pure metric functions: numbers in, numbers out; nothing here imports the harness or the rest of the package."""
