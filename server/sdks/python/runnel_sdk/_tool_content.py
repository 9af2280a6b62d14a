"""The result of a client tool that has pictures."""

from __future__ import annotations

from typing import Any, Dict, List


class ToolContent:
    """Return value of a tool function whose result has pictures: the model is shown them.

    Each part is ``{"type": "text", "text": …}``, or ``{"type": "image"}`` with ``file_id``, ``data`` or ``url``.
    """

    def __init__(self, *parts: Dict[str, Any]) -> None:
        self.parts: List[Dict[str, Any]] = list(parts)
