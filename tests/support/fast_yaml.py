"""PyYAML with the parser in C, which takes a sixth of the time of the one in Python.

The harness reads each task file, and all that it includes, anew for each task of a run.
"""

from __future__ import annotations

from typing import Any

import yaml


def read_yaml_in_c() -> None:
    """Have ``yaml.safe_load`` and ``yaml.full_load`` of this process parse in C, where it can.

    What is registered for the loader in Python (``!function``) holds for the one in C too.
    """
    if not yaml.__with_libyaml__:
        return

    class FullLoader(yaml.CFullLoader):
        """The loader in C, with the path of its file, beside which the harness finds functions."""

        yaml_constructors = dict(yaml.loader.FullLoader.yaml_constructors)

        def __init__(self, stream: Any) -> None:
            super().__init__(stream)
            self.name = getattr(stream, "name", "<text>")

    yaml.loader.FullLoader.yaml_constructors = FullLoader.yaml_constructors
    yaml.FullLoader = FullLoader
    yaml.SafeLoader = yaml.CSafeLoader
