"""Waiting in the async client; `_blocking.py` is its counterpart."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any, Awaitable, Callable, Generator, Generic, Iterable, List, Optional, TypeVar

from ._object import Page

T = TypeVar("T")

sleep = asyncio.sleep


async def together(tasks: Iterable[Awaitable[T]]) -> List[T]:
    """Runs tasks at the same time and returns their results in order. If one raises, the others are cancelled."""
    started = [asyncio.ensure_future(each) for each in tasks]
    try:
        return list(await asyncio.gather(*started))
    except BaseException:
        for each in started:
            each.cancel()
        await asyncio.gather(*started, return_exceptions=True)
        raise


class FirstPage(Generic[T]):
    """A list that can be awaited, for its first page."""

    async def first_page(self) -> Page[T]:
        raise NotImplementedError

    def __await__(self) -> Generator[Any, None, Page[T]]:
        return self.first_page().__await__()


async def settled(value: Any) -> Any:
    """Returns the result of a function, which is awaited if it is awaitable."""
    return await value if inspect.isawaitable(value) else value


def expect_callable_here(_: Optional[Callable[..., Any]]) -> None:
    """Any function may be called from here."""
