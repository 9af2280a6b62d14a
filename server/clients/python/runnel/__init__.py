"""The Python client of runnel, a self-hosted agent runtime."""

from . import types
from ._async_client import AsyncPager, AsyncRunStream
from ._async_resources import AsyncRunnel
from ._client import Pager, RunStream
from ._errors import (
    APIError,
    AuthenticationError,
    BadRequestError,
    ConflictError,
    ConnectionError,
    InternalServerError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    RunFailedError,
    RunnelError,
    TimeoutError,
    UnexpectedResponseError,
    WebhookVerificationError,
)
from ._object import NOT_GIVEN, Object, Page
from ._resources import Runnel
from ._version import __version__

__all__ = [
    "NOT_GIVEN",
    "APIError",
    "AsyncPager",
    "AsyncRunStream",
    "AsyncRunnel",
    "AuthenticationError",
    "BadRequestError",
    "ConflictError",
    "ConnectionError",
    "InternalServerError",
    "NotFoundError",
    "Object",
    "Page",
    "Pager",
    "PermissionDeniedError",
    "RateLimitError",
    "RunFailedError",
    "RunStream",
    "Runnel",
    "RunnelError",
    "TimeoutError",
    "UnexpectedResponseError",
    "WebhookVerificationError",
    "__version__",
    "types",
]
