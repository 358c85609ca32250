"""The HTML report of ``figlang report``: charts, tables, samples and how the runs were made."""
