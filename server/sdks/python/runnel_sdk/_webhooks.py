"""Signatures of webhooks, as https://www.standardwebhooks.com has them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from typing import Any, Iterable, Protocol, Sequence, Tuple, Union

from ._errors import WebhookVerificationError
from ._object import Object

#: Older than this it may be a copy that somebody sends again (Standard Webhooks: five minutes).
TOLERANCE_SECONDS = 300


class Headers(Protocol):
    """The headers of any framework."""

    def items(self) -> Iterable[Tuple[str, str]]: ...


def verify(body: Union[str, bytes], headers: Headers, secret: Union[str, Sequence[str]]) -> Any:
    """The event or the tool call that was received.

    Raises ``WebhookVerificationError`` when it was signed with none of the secrets, or is older than five minutes.
    ``body`` is what was received, to the byte.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    try:
        id, timestamp, signatures = (lower[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
    except KeyError as missing:
        raise WebhookVerificationError(f"The header {missing.args[0]} is missing.") from None
    is_time = len(timestamp) < 16 and timestamp.isascii() and timestamp.isdigit()
    if not is_time or abs(time.time() - int(timestamp)) >= TOLERANCE_SECONDS:
        raise WebhookVerificationError("The timestamp is not of the last five minutes.")
    raw = body.encode() if isinstance(body, str) else body
    for one in [secret] if isinstance(secret, str) else secret:
        mac = hmac.new(_key_of(one), f"{id}.{timestamp}.".encode() + raw, hashlib.sha256)
        right = b"v1," + base64.b64encode(mac.digest())
        if any(hmac.compare_digest(given.encode(), right) for given in signatures.split(" ")):
            return json.loads(raw, object_hook=Object)
    raise WebhookVerificationError("The signature is not of this secret.")


def _key_of(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret[6:] if secret.startswith("whsec_") else secret)
    except ValueError:
        key = b""
    if not key:  # By an empty secret anybody could sign.
        raise WebhookVerificationError("The secret is not one of a webhook: it begins with whsec_.")
    return key
