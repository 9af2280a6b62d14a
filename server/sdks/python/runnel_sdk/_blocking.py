"""Waiting in the blocking client; `_waiting.py` is its counterpart."""

from __future__ import annotations

import inspect
import time
from typing import Any, Callable, Generic, Iterable, List, Optional, TypeVar

from ._errors import RunnelError

T = TypeVar("T")

sleep = time.sleep


def together(results: Iterable[T]) -> List[T]:
    """Returns the results of tasks, which run one after the other."""
    return list(results)


class FirstPage(Generic[T]):
    """A list; only the client that awaits can await it."""


def settled(value: T) -> T:
    """Returns the result of a function."""
    return value


def expect_callable_here(function: Optional[Callable[..., Any]]) -> None:
    """Raises a ``RunnelError`` for a function that has to be awaited."""
    if inspect.iscoroutinefunction(getattr(function, "answers_for", function)):
        raise RunnelError(f"{getattr(function, '__name__', 'This function')} is async: use AsyncRunnel, or a plain function.")
