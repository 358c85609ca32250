"""The HTML report of ``figlang report``: sections of tables and charts, a gallery of samples,
provenance.
"""
