"""The server that runs on the data directory beside this program."""

from __future__ import annotations

import json
import os
from typing import Dict, Mapping, Optional
from urllib.parse import urlsplit


def local_server() -> Dict[str, Optional[str]]:
    """Its address, the file of its certificate and its test key, as far as there are any.

    The data directory is ``RUNNEL_DATA_DIR``, or ``runnel-data`` in the current folder. Empty if no server has run there.
    """
    folder = os.environ.get("RUNNEL_DATA_DIR") or "runnel-data"
    try:
        with open(os.path.join(folder, "server.json"), encoding="utf-8") as file:
            server = json.load(file)
    except (OSError, ValueError):
        return {}
    if not isinstance(server, dict) or not isinstance(server.get("address"), str):
        return {}
    return {name: server.get(name) for name in ("address", "cacert", "api_key")}


def is_at(server: Mapping[str, Optional[str]], base_url: str) -> bool:
    """True if an address is that of this server."""
    address = server.get("address")
    return address is not None and urlsplit(address)[:2] == urlsplit(base_url)[:2]
