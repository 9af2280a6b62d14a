"""Objects of responses, and arguments that were left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Generic, Iterable, List, Optional, TypeVar

T = TypeVar("T")


class Record(Dict[str, Any]):
    """A JSON object whose fields are attributes too: ``run.status`` is ``run["status"]``.

    A field that is called like a method of dict, such as ``items``, is there in brackets only. What the server leaves
    out is not there: ``agent.budget.get("max_cost_usd")``.
    """

    __slots__ = ()

    if not TYPE_CHECKING:  # Type checkers know the fields, and find those that there are not.

        def __getattr__(self, name: str) -> Any:
            try:
                return self[name]
            except KeyError:
                raise AttributeError(f"There is no {name}, only: {', '.join(self)}") from None

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *self]


class Object(Record):
    """A JSON object of any fields."""

    __slots__ = ()

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class Page(Record, Generic[T]):
    """A part of a list."""

    data: List[T]
    has_more: bool
    first_id: Optional[str]
    last_id: Optional[str]


class NotGiven:
    """Default of an argument that is not sent; None would be sent as null."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "NOT_GIVEN"


NOT_GIVEN = NotGiven()


def texts(fields: Dict[str, Any]) -> Dict[str, str]:
    """Values of headers."""
    return {name: str(value) for name, value in fields.items()}


def given(fields: Dict[str, Any]) -> Dict[str, Any]:
    """The arguments that were not left out."""
    return {name: value for name, value in fields.items() if not isinstance(value, NotGiven)}
