"""The output of a run as a type of the program."""

from __future__ import annotations

import importlib
import inspect
import json
from typing import Any, Callable, Generic, Mapping, Tuple, TypeVar

from . import types
from ._errors import RunnelError
from ._tool import schema_of, untitled

T = TypeVar("T")


class TypedRun(types.Run, Generic[T]):
    """A completed run whose ``output_json`` has the type that was given as ``schema``."""

    output_json: T


def read_schema(schema: Any) -> Tuple[Mapping[str, Any], Callable[[Any], Any]]:
    """Returns the JSON Schema of a type, and the conversion of JSON to it. A JSON Schema stays as it is.

    Raises ``TypeError`` for a type that has none.
    """
    if isinstance(schema, Mapping):
        return schema, lambda value: value
    if inspect.isroutine(schema):  # Pydantic would describe its arguments.
        raise TypeError(f"schema: {schema!r} is a function, not a type.")
    try:
        return schema_of(schema), lambda value: value
    except (TypeError, RecursionError):
        adapter = _adapter_of(schema)

    def convert(value: Any) -> Any:
        try:
            # As JSON, which has texts and lists for what a strict type wants as a date, an enum or a tuple.
            return adapter.validate_json(json.dumps(value))
        except ValueError as error:  # As pydantic's ValidationError is.
            raise RunnelError(f"The output does not fit the schema: {error}") from error

    return untitled(adapter.json_schema()), convert


def _adapter_of(schema: Any) -> Any:
    try:
        pydantic: Any = importlib.import_module("pydantic")
        return pydantic.TypeAdapter(schema)
    except (ImportError, AttributeError):
        raise TypeError(f"schema: {schema!r} needs pydantic 2; without it, pass a TypedDict or a JSON Schema.") from None
    except Exception as refusal:  # Pydantic's errors are no TypeErrors.
        raise TypeError(f"schema: {refusal}") from refusal
