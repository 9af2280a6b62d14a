"""The Python client of runnel, a self-hosted agent runtime."""

from . import types
from ._async_client import AsyncPager, AsyncRunStream
from ._async_resources import AsyncRunnel
from ._client import Pager, RunStream
from ._errors import (
    ActionRequiredError,
    APIConnectionError,
    APIError,
    APITimeoutError,
    AuthenticationError,
    BadRequestError,
    CertificateError,
    ConflictError,
    InternalServerError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    RunFailedError,
    RunnelError,
    UnexpectedResponseError,
    WebhookVerificationError,
)
from ._object import NOT_GIVEN, Object, Page
from ._output import TypedRun
from ._resources import Runnel
from ._tool import Tool, tool
from ._tool_content import ToolContent
from ._version import __version__

__all__ = [
    "APIConnectionError",
    "APIError",
    "APITimeoutError",
    "ActionRequiredError",
    "AsyncPager",
    "AsyncRunStream",
    "AsyncRunnel",
    "AuthenticationError",
    "BadRequestError",
    "CertificateError",
    "ConflictError",
    "InternalServerError",
    "NOT_GIVEN",
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
    "Tool",
    "ToolContent",
    "TypedRun",
    "UnexpectedResponseError",
    "WebhookVerificationError",
    "__version__",
    "tool",
    "types",
]
