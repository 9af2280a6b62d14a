"""The errors of this library."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Tuple, Type


class RunnelError(Exception):
    """Base class of all errors of this library."""

    #: Id of the run that may go on without its watcher; None if the error ended no watching of a run.
    run_id: Optional[str] = None

    @property
    def message(self) -> str:
        """The error in words, for people."""
        return str(self)

    def __reduce__(self) -> Any:
        # A process of a pool returns its error pickled, and an error is made of other arguments than its message.
        return _restored, (type(self), self.args, self.__dict__)


def name_run(error: Exception, run_id: Optional[str]) -> None:
    """Gives an error the id of the run during which it happened, if it has none; also one of the program's functions."""
    if run_id is None or getattr(error, "run_id", None) is not None:
        return
    try:
        error.run_id = run_id  # type: ignore[attr-defined]
    except AttributeError:
        pass  # It has no room for more fields.


def _restored(kind: Type[RunnelError], args: Tuple[Any, ...], fields: Dict[str, Any]) -> RunnelError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(fields)
    return error


class APIError(RunnelError):
    """The server refused a request."""

    def __init__(self, status: int, body: Any, headers: Mapping[str, str]) -> None:
        error = body.get("error") if isinstance(body, dict) else None
        error = error if isinstance(error, dict) else {}  # A proxy may have said something of its own.
        super().__init__(_text(error.get("message")) or f"The server returned {status}.")
        self.status = status
        #: The same as ``status``, under the name that it has in httpx and other clients.
        self.status_code = status
        #: Code of the error, for programs: ``validation_failed``, ``resource_not_found``, …
        self.code: str = _text(error.get("code")) or "unknown"
        self.type: str = _text(error.get("type")) or "unknown"
        self.param: Optional[str] = _text(error.get("param"))
        #: Every fault of a request that is not valid.
        errors = error.get("errors")
        self.errors: List[Dict[str, Any]] = errors if isinstance(errors, list) else []
        self.doc_url: Optional[str] = _text(error.get("doc_url"))
        #: Give it to the operator when you ask about this error.
        said = _text(body.get("request_id")) if isinstance(body, dict) else None
        self.request_id: Optional[str] = said or headers.get("x-request-id")
        self.headers = headers

    @staticmethod
    def of(status: int, body: Any, headers: Mapping[str, str]) -> APIError:
        """The class for a status."""
        kind = _BY_STATUS.get(status) or (InternalServerError if status >= 500 else APIError)
        return kind(status, body, headers)

    @staticmethod
    def in_stream(body: Any, headers: Mapping[str, str]) -> APIError:
        """Returns the error by which a stream ended, for example because the key expired. Its own status was 200."""
        error = body.get("error") if isinstance(body, dict) else None
        kind = error.get("type") if isinstance(error, dict) else None
        return APIError.of(_STATUS_BY_TYPE.get(str(kind), 500), body, headers)


def _text(value: Any) -> Optional[str]:
    return value if isinstance(value, str) else None


class BadRequestError(APIError):
    """400"""


class AuthenticationError(APIError):
    """401"""


class PermissionDeniedError(APIError):
    """403"""


class NotFoundError(APIError):
    """404"""


class ConflictError(APIError):
    """409"""


class RateLimitError(APIError):
    """429"""


class InternalServerError(APIError):
    """500 and above"""


_STATUS_BY_TYPE = {"authentication_error": 401, "permission_error": 403, "not_found_error": 404}

_BY_STATUS = {
    400: BadRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitError,
}


class APIConnectionError(RunnelError):
    """The server was not reached, or the connection was lost."""


class CertificateError(APIConnectionError):
    """The server's certificate is not trusted. It is not tried again: pass ``ca``, or set ``RUNNEL_CACERT``."""


class APITimeoutError(APIConnectionError):
    """The server did not respond within ``timeout``."""


class UnexpectedResponseError(RunnelError):
    """The response is not one of a runnel server: another server has this address, or a proxy changed it."""


class RunFailedError(RunnelError):
    """A run ended without completing."""

    def __init__(self, run: Any) -> None:
        error = run.get("error") or {}
        super().__init__(f"The run {run['id']} {run['status']}: {error.get('message') or 'no reason is known'}")
        self.run = run
        self.run_id = run["id"]


class ActionRequiredError(RunnelError):
    """A run waits for an answer that this program does not have. It keeps waiting."""

    def __init__(self, message: str, run: Any) -> None:
        super().__init__(message)
        self.run = run
        self.run_id = run["id"]


class WebhookVerificationError(RunnelError):
    """The webhook was not signed with this secret, or is too old."""
