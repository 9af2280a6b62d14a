"""The server that runs on the data directory beside this program."""

from __future__ import annotations

import json
import os
import re
import stat
from typing import Dict, Mapping, Optional
from urllib.parse import urlsplit

OWN_HOST = re.compile(r"^(127\.[\d.]+|::1|(.+\.)?localhost)$")


def local_server() -> Dict[str, Optional[str]]:
    """Its address, the file of its certificate and its test key, as far as there are any.

    The data directory is ``RUNNEL_DATA_DIR``, or ``runnel-data`` in the current folder. Empty if no server runs there.

    A key is sent to this address, so the file counts only if its server is alive and on this machine, and if only this
    user can read the file: a folder of others, such as a cloned repository, may hold one too.
    """
    path = os.path.join(os.environ.get("RUNNEL_DATA_DIR") or "runnel-data", "server.json")
    try:
        with open(path, encoding="utf-8") as file:
            server = json.load(file)
            status = os.fstat(file.fileno())
        if os.name == "posix":
            if status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o077:
                return {}
            os.kill(server["pid"], 0)
        if not OWN_HOST.match(urlsplit(server["address"]).hostname or ""):
            return {}
        return {name: server.get(name) for name in ("address", "cacert", "api_key")}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def is_at(server: Mapping[str, Optional[str]], base_url: str) -> bool:
    """True if an address is that of this server."""
    address = server.get("address")
    return address is not None and urlsplit(address)[:2] == urlsplit(base_url)[:2]
