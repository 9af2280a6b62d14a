"""The client that awaits. The build makes `_client.py`, which blocks, of this file by taking the async words out."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import random
import ssl
import time
import uuid
from typing import Any, AsyncIterator, Callable, Dict, Generic, List, Mapping, Optional, TypeVar, Union
from urllib.parse import quote

import httpx

from ._errors import APIError, ConnectionError, RunFailedError, RunnelError, TimeoutError
from ._object import Object

T = TypeVar("T")

#: The server sends something at least every five seconds.
SILENCE_SECONDS = 20.0


class AsyncClient:
    """Sends requests: with the key, within a time, and again where that is safe.

    ``base_url`` is by default ``RUNNEL_URL``, else ``https://127.0.0.1:8443``; ``api_key`` is ``RUNNEL_API_KEY``; ``ca``
    is the path of the certificate of a server that signed its own, by default ``RUNNEL_CACERT``. ``timeout`` is how
    many seconds one attempt may take until the response begins.
    """

    def __init__(
        self,
        *,
        base_url: Optional[str] = None,
        api_key: Optional[str] = None,
        ca: Optional[str] = None,
        timeout: float = 60.0,
        max_retries: int = 2,
        http_client: Optional[httpx.AsyncClient] = None,
    ) -> None:
        key = api_key or os.environ.get("RUNNEL_API_KEY")
        if not key:
            raise RunnelError("An API key is missing: pass api_key, or set RUNNEL_API_KEY.")
        base = base_url or os.environ.get("RUNNEL_URL") or "https://127.0.0.1:8443"
        self.base_url = base.rstrip("/").removesuffix("/v1")
        self.timeout = timeout
        self.max_retries = max_retries
        self._headers = {"authorization": f"Bearer {key}"}
        self._http = http_client or httpx.AsyncClient(verify=_trusting(ca or os.environ.get("RUNNEL_CACERT")))

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self: T) -> T:
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    async def json(self, method: str, path: str, **parts: Any) -> Any:
        """The body of a response as JSON."""
        response = await self.send(method, path, **parts)
        return _parsed(await _read(response))

    async def content(self, method: str, path: str, **parts: Any) -> bytes:
        """The body of a response as bytes."""
        return await _read(await self.send(method, path, **parts))

    async def send(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        files: Any = None,
        headers: Optional[Mapping[str, str]] = None,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> httpx.Response:
        """A response whose body has not been read. Raises an ``APIError`` for a refusal."""
        retries = self.max_retries if max_retries is None else max_retries
        sent = {**self._headers, **(headers or {})}
        if method == "POST":
            sent["idempotency-key"] = idempotency_key or str(uuid.uuid4())
        if files is not None:
            content: Dict[str, Any] = {"files": files, "data": body or {}}
        elif body is not None:
            content = {"content": json.dumps(body).encode()}
            sent["content-type"] = "application/json"
        else:
            content = {}
        limit = httpx.Timeout(timeout or self.timeout)
        request = self._http.build_request(
            method, self.base_url + path, params=_pairs(query), headers=sent, timeout=limit, **content
        )
        attempt = 0
        while True:
            error: RunnelError
            try:
                response = await self._http.send(request, stream=True)
                if response.is_success:
                    return response
                error = await _refusal(response)
            except httpx.TimeoutException as cause:
                error = TimeoutError("The server did not respond in time.")
                error.__cause__ = cause
            except httpx.TransportError as cause:
                error = ConnectionError(f"{self.base_url} was not reached: {cause}")
                error.__cause__ = cause
            if attempt >= retries or not may_retry(error):
                raise error
            await asyncio.sleep(retry_delay(attempt, error))
            attempt += 1


async def _refusal(response: httpx.Response) -> APIError:
    try:
        body = _parsed(await _read(response))
    except (ValueError, ConnectionError):
        body = None  # A proxy may have said something of its own.
    return APIError.of(response.status_code, body, response.headers)


async def _read(response: httpx.Response) -> bytes:
    try:
        return await response.aread()
    except httpx.TransportError as cause:
        raise ConnectionError(f"The connection was lost: {cause}") from cause
    finally:
        await response.aclose()


class AsyncPager(Generic[T]):
    """A list: iterated, it goes through all items of all pages; ``first_page()`` is its first page."""

    def __init__(self, client: AsyncClient, path: str, query: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        self._client = client
        self._path = path
        self._query = query
        self._options = options

    async def first_page(self) -> Any:
        """The first page: ``data``, ``has_more``, ``first_id`` and ``last_id``."""
        return await self._client.json("GET", self._path, query=self._query, **self._options)

    async def pages(self) -> AsyncIterator[Any]:
        """Page by page."""
        backward = self._query.get("ending_before") is not None
        query = dict(self._query)
        while True:
            page = await self._client.json("GET", self._path, query=query, **self._options)
            yield page
            following = page.get("first_id" if backward else "last_id")
            if not page.get("has_more") or following is None:
                return
            query["ending_before" if backward else "starting_after"] = following

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page["data"]:
                yield item


class AsyncRunStream:
    """The events of a run, each once and in order, until the run ends.

    Lost connections and restarts of the server are survived: the stream reconnects after the last event that it had.
    Each event has ``event``, ``id`` and ``data``.
    """

    def __init__(
        self,
        client: AsyncClient,
        *,
        run_id: Optional[str] = None,
        body: Optional[Mapping[str, Any]] = None,
        last_event_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        patience: float = 300.0,
        timeout: Optional[float] = None,
    ) -> None:
        #: The run, once the first event has come.
        self.run_id = run_id
        #: The text of the model's current answer so far. What a retried step had said before is taken back.
        self.text = ""
        self._client = client
        self._body = body
        self._last_id = last_event_id
        self._key = idempotency_key or str(uuid.uuid4())
        self._patience = patience
        self._timeout = timeout
        self._started = False

    async def __aiter__(self) -> AsyncIterator[Any]:
        if self._started:
            raise RunnelError("A stream can be read only once.")
        self._started = True
        heard = time.monotonic()
        attempt = 0
        while True:
            problem: Optional[RunnelError] = None
            try:
                response = await self._open()
                if response.status_code == 204:
                    return  # The last event was the end.
                try:
                    async for frame in _frames(response):
                        heard = time.monotonic()
                        attempt = 0
                        if frame.event == "error":
                            raise APIError.of(401, frame.data, response.headers)
                        self._note(frame)
                        yield frame
                        if frame.event in ("run.completed", "run.failed"):
                            return
                finally:
                    await response.aclose()
            except httpx.TransportError as cause:
                problem = ConnectionError(f"The stream was lost: {cause}")
                problem.__cause__ = cause
            except RunnelError as error:
                if not may_retry(error):
                    raise
                problem = error
            # Without a problem it ended in the middle: the server stops, or a proxy lost its patience.
            if time.monotonic() - heard > self._patience:
                raise problem or ConnectionError("The stream was lost.")
            await asyncio.sleep(retry_delay(attempt, problem))
            attempt += 1

    async def text_deltas(self) -> AsyncIterator[str]:
        """The text of the model as it comes, piece by piece."""
        async for event in self:
            if event.event == "token" and event.data["kind"] == "output":
                yield event.data["delta"]

    async def done(self) -> None:
        """Reads the stream to its end."""
        async for _ in self:
            pass

    async def _open(self) -> httpx.Response:
        if self.run_id is None:
            # Under the same key the server starts one run, however often it is asked, and returns its events from the first.
            return await self._client.send(
                "POST",
                "/v1/runs",
                body={**(self._body or {}), "stream": True},
                idempotency_key=self._key,
                timeout=self._timeout or SILENCE_SECONDS,
                max_retries=0,
            )
        headers = {"accept": "text/event-stream"}
        if self._last_id is not None:
            headers["last-event-id"] = self._last_id
        path = f"/v1/runs/{at(self.run_id)}/events"
        return await self._client.send(
            "GET", path, headers=headers, timeout=self._timeout or SILENCE_SECONDS, max_retries=0
        )

    def _note(self, frame: Any) -> None:
        if frame["id"] is not None:
            self._last_id = frame["id"]
        data = frame.data
        self.run_id = self.run_id or data["run_id"]
        if frame.event == "step.restarted" or (frame.event == "step.started" and data["type"] == "model_call"):
            self.text = ""
        elif frame.event == "token" and data["kind"] == "output":
            self.text += data["delta"]


async def _frames(response: httpx.Response) -> AsyncIterator[Any]:
    """Server-sent events, as the HTML standard has them. What a lost connection cut off is not an event."""
    event: str = ""
    id: Optional[str] = None
    data: List[str] = []
    rest = b""
    async for chunk in response.aiter_bytes():
        *lines, rest = (rest + chunk).split(b"\n")
        for raw in lines:
            line = raw.rstrip(b"\r").decode()
            if line == "":
                if data:
                    yield Object(event=event or "message", id=id, data=_parsed("\n".join(data)))
                event, id, data = "", None, []
                continue
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "event":
                event = value
            elif field == "data":
                data.append(value)
            elif field == "id":
                id = value


class AsyncFilesBase:
    """What the generated resource ``files`` adds its routes to."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def upload(self, file: Any, *, purpose: str, filename: Optional[str] = None, **fields: Any) -> Any:
        """Uploads a file: a path, bytes with ``filename``, or something that is open for reading."""
        if isinstance(file, (str, os.PathLike)):
            with open(file, "rb") as opened:
                return await self.upload(
                    opened, purpose=purpose, filename=filename or os.path.basename(file), **fields
                )
        name = filename or os.path.basename(getattr(file, "name", "file"))
        parts = {key: json.dumps(its) if isinstance(its, (dict, list)) else str(its) for key, its in fields.items()}
        content = file if isinstance(file, bytes) else file.read()  # Whole: a retry must be able to send it again.
        return await self._client.json(
            "POST", "/v1/files", body={"purpose": purpose, **parts}, files={"file": (name, content)}
        )


class AsyncRunsBase:
    """What the generated resource ``runs`` adds its routes to."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    def stream(
        self, *, idempotency_key: Optional[str] = None, patience: float = 300.0, **body: Any
    ) -> AsyncRunStream:
        """Starts a run and returns its events, each once, over lost connections and restarts of the server."""
        return AsyncRunStream(self._client, body=body, idempotency_key=idempotency_key, patience=patience)

    def follow(
        self, run_id: str, *, last_event_id: Optional[str] = None, patience: float = 300.0
    ) -> AsyncRunStream:
        """The events of a run that was started elsewhere: from the first, or after ``last_event_id``."""
        return AsyncRunStream(self._client, run_id=run_id, last_event_id=last_event_id, patience=patience)

    async def run(
        self,
        agent: Union[str, Mapping[str, Any]],
        input: Any,
        *,
        tools: Optional[Mapping[str, Callable[..., Any]]] = None,
        decide: Optional[Callable[[Any], Any]] = None,
        on_event: Optional[Callable[[Any], None]] = None,
        idempotency_key: Optional[str] = None,
        patience: float = 300.0,
        **fields: Any,
    ) -> Any:
        """Runs an agent to its end and returns the run.

        ``tools`` are functions by the names of client tools: one gets the call's arguments by their names, what it
        returns is the output, and what it raises the model reads as an error. ``decide`` gets a call that needs an
        approval, or whose outcome nobody knows, and returns ``{"decision": "approve"}`` or ``{"decision": "reject"}``.
        Raises ``RunFailedError`` when the run fails or is cancelled.
        """
        agent_id = agent if isinstance(agent, str) else agent["id"]
        events = self.stream(
            idempotency_key=idempotency_key, patience=patience, agent_id=agent_id, input=input, **fields
        )
        async for event in events:
            if on_event:
                on_event(event)
            if event.event != "run.requires_action":
                continue
            calls: List[Any] = event.data["required_action"]["submit_tool_outputs"]["tool_calls"]
            outputs = [await _result(call, tools or {}, decide) for call in calls]
            path = f"/v1/runs/{at(str(events.run_id))}/submit_tool_outputs"
            await self._client.json("POST", path, body={"tool_outputs": outputs}, max_retries=8)
        run = await self._client.json("GET", f"/v1/runs/{at(str(events.run_id))}")
        if run["status"] != "completed":
            raise RunFailedError(run)
        return run


async def _result(call: Any, tools: Mapping[str, Callable[..., Any]], decide: Optional[Callable[[Any], Any]]) -> Any:
    if call["needs"] != "output":
        if decide is None:
            raise RunnelError(f"The call of {call['tool']} needs a decision ({call['needs']}): pass decide.")
        return {"tool_call_id": call["id"], **await _resolved(decide(call))}
    tool = tools.get(call["tool"])
    if tool is None:
        raise RunnelError(f"The run asks for the output of {call['tool']}: pass it in tools.")
    try:
        return {"tool_call_id": call["id"], "output": await _resolved(tool(**call["arguments"]))}
    except Exception as error:  # noqa: BLE001 - the model is told of whatever it was
        return {"tool_call_id": call["id"], "output": str(error) or type(error).__name__, "is_error": True}


async def _resolved(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


def may_retry(error: RunnelError) -> bool:
    """What may succeed later. A request may be sent again whatever became of it: a POST goes under the same key."""
    if isinstance(error, ConnectionError):
        return True
    if not isinstance(error, APIError):
        return False
    return error.status == 429 or error.status >= 500 or error.code == "idempotency_in_progress"


def retry_delay(attempt: int, error: Optional[RunnelError] = None) -> float:
    """The server's own wish, else half a second, doubled each time, up to eight seconds; shortened by chance."""
    wish = error.headers.get("retry-after") if isinstance(error, APIError) else None
    if wish is not None and wish.isdigit() and int(wish) <= 60:
        return float(wish)
    return min(8.0, 0.5 * 2**attempt) * (1 - random.random() / 4)


def at(value: Union[str, int]) -> str:
    """A value as a part of a path."""
    return quote(str(value), safe="")


def _parsed(text: Union[str, bytes]) -> Any:
    return json.loads(text, object_hook=Object)


def _pairs(query: Optional[Mapping[str, Any]]) -> List[Any]:
    """``{"status": "failed", "metadata": {"a": "b"}}`` becomes ``status=failed&metadata[a]=b``."""
    pairs: List[Any] = []
    for name, value in (query or {}).items():
        if value is None:
            continue
        if isinstance(value, Mapping):
            pairs.extend((f"{name}[{key}]", str(its)) for key, its in value.items())
        elif isinstance(value, bool):
            pairs.append((name, "true" if value else "false"))
        elif isinstance(value, (list, tuple)):
            pairs.append((name, ",".join(map(str, value))))
        else:
            pairs.append((name, str(value)))
    return pairs


def _trusting(ca: Optional[str]) -> Any:
    if ca is None:
        return True
    context = ssl.create_default_context()
    context.load_verify_locations(cafile=ca)
    return context
