"""What waiting is for the client that blocks; `_waiting.py` is its counterpart."""

from __future__ import annotations

import inspect
import time
from typing import Any, Callable, Generic, Iterable, List, Optional, TypeVar

from ._errors import RunnelError

T = TypeVar("T")

sleep = time.sleep


def together(results: Iterable[T]) -> List[T]:
    """What all of them came to, one after the other."""
    return list(results)


class FirstPage(Generic[T]):
    """A list; only the client that awaits can await it."""


def settled(value: T) -> T:
    """What a function returned."""
    return value


def expect_callable_here(function: Optional[Callable[..., Any]]) -> None:
    """Raises a ``RunnelError`` for a function that has to be awaited."""
    if inspect.iscoroutinefunction(getattr(function, "answers_for", function)):
        raise RunnelError(f"{getattr(function, '__name__', 'This function')} is async: use AsyncRunnel, or a plain function.")
