"""What the API returns."""

from __future__ import annotations

from typing import Any


class Object(dict):
    """A JSON object whose fields are attributes too: ``run.status`` is ``run["status"]``.

    A field that is called like a method of dict, such as ``items``, is there in brackets only.
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class NotGiven:
    """What an argument is that was left out: None would be sent as null."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "NOT_GIVEN"


NOT_GIVEN = NotGiven()


def given(**fields: Any) -> dict:
    """The arguments that were not left out."""
    return {name: value for name, value in fields.items() if not isinstance(value, NotGiven)}
