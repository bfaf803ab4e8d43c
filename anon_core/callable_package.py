"""A package that is called like a verb of the library: `anon_core.detect` has what detects, and detects."""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class CallablePackage(ModuleType):
    """
    A package that can be called: the call goes to the function of the same name in :mod:`anon_core.api`.

    Importing ``anon_core.detect.groups`` makes the package ``anon_core.detect`` an attribute of ``anon_core``, where
    the public function has to be. So the package is that function, too, with its signature.
    """

    @property
    def __wrapped__(self) -> Any:
        """The function."""
        name = self.__name__.rpartition(".")[2]
        return getattr(import_module(f"anon_core.api.{name}"), name)

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.__wrapped__)

    def __call__(self, *positional: Any, **named: Any) -> Any:
        return self.__wrapped__(*positional, **named)


def make_callable(package: str) -> None:
    """Make an imported package callable."""
    sys.modules[package].__class__ = CallablePackage
