"""PyYAML with the parser in C, which takes a sixth of the time of the one in Python.

The harness reads each task file, and all that it includes, anew for each task of a run.
"""

from __future__ import annotations

from typing import Any, ClassVar

import yaml

# Its names are replaced by other classes, which its types do not allow.
_yaml: Any = yaml


def read_yaml_in_c() -> None:
    """Have ``yaml.safe_load`` and ``yaml.full_load`` of this process parse in C, where it can.

    What is registered for the loader in Python (``!function``) holds for the one in C too.
    """
    if not _yaml.__with_libyaml__:
        return

    class FullLoader(yaml.CFullLoader):
        """The loader in C, with the path of its file, beside which the harness finds functions."""

        yaml_constructors: ClassVar[dict[Any, Any]] = dict(
            _yaml.loader.FullLoader.yaml_constructors
        )

        def __init__(self, stream: Any) -> None:
            super().__init__(stream)
            self.name = getattr(stream, "name", "<text>")

    _yaml.loader.FullLoader.yaml_constructors = FullLoader.yaml_constructors
    _yaml.FullLoader = FullLoader
    _yaml.SafeLoader = yaml.CSafeLoader
