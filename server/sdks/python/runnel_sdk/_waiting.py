"""What waiting is for the client that awaits; `_blocking.py` is its counterpart."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any, Awaitable, Callable, Iterable, List, Optional, TypeVar

T = TypeVar("T")

sleep = asyncio.sleep


async def together(tasks: Iterable[Awaitable[T]]) -> List[T]:
    """What all of them come to, in their order; they run at the same time."""
    return list(await asyncio.gather(*tasks))


async def settled(value: Any) -> Any:
    """What a function returned, awaited where it has to be."""
    return await value if inspect.isawaitable(value) else value


def expect_callable_here(_: Optional[Callable[..., Any]]) -> None:
    """Any function may be called from here."""
