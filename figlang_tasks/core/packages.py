"""The versions of installed packages."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version


def package_versions(packages: Iterable[str]) -> dict[str, str]:
    """The versions of packages by name; packages that are not installed are left out."""
    versions = {}
    for package in packages:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return versions


def installed_version(package: str) -> str | None:
    """The version of an installed package; None if it is not installed."""
    return package_versions([package]).get(package)
