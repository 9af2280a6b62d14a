"""The client that awaits. The build makes `_client.py`, which blocks, of this file by taking the async words out."""

from __future__ import annotations

import copy
import dataclasses
import datetime
import enum
import json
import os
import random
import ssl
import time
import uuid
from decimal import Decimal
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, AsyncGenerator, AsyncIterator, Callable, Dict, Generic, List
from typing import Mapping, Optional, Sequence, Set, Tuple, TypeVar, Union, cast
from urllib.parse import quote, urlsplit

import httpx

from ._errors import APIError, CertificateError, APIConnectionError, RunFailedError, RunnelError, APITimeoutError
from ._errors import ActionRequiredError, UnexpectedResponseError, name_run
from ._local_server import is_at, local_server
from ._tool import Tools, separate
from ._tool_content import ToolContent
from ._object import Object, Page
from ._output import TypedRun, read_schema
from ._version import __version__
from ._waiting import FirstPage, expect_callable_here, settled, sleep, together

if TYPE_CHECKING:
    from . import types

T = TypeVar("T")
Self = TypeVar("Self", bound="AsyncClient")

#: The server sends something at least every five seconds.
SILENCE_SECONDS = 20.0

#: A connection over which something comes after this time is one.
LASTING_SECONDS = 4.0

#: No answer in JSON is longer; files and capsules may be.
LONGEST_ANSWER = 128 * 2**20
LONGEST_REFUSAL = 2**20
LONGEST_FRAME = 64 * 2**20

#: How a connection fails. Before httpx 0.24 the errors of TLS came as they are.
LOST = (httpx.RequestError, ssl.SSLError)


class AsyncClient:
    """Sends requests: with the key, within a time, and again where that is safe.

    ``base_url`` is by default ``RUNNEL_URL``, else the server that runs on ``runnel-data`` in the current folder, else
    ``https://127.0.0.1:8443``; ``api_key`` is ``RUNNEL_API_KEY``, else the test key of ``runnel dev`` in that folder;
    ``ca`` is the path of the certificate of a server that signed its own, by default ``RUNNEL_CACERT``, else that of
    the server in that folder. ``timeout`` is how many seconds one attempt may wait for the server, and ``max_retries``
    how often a request is sent again that may succeed later: it was not answered, or answered with 429 or 500 and
    above. ``headers`` are sent with every request.
    ``http_client`` is used instead of one of its own, which knows ``ca``; it is not closed.
    """

    def __init__(
        self,
        *,
        base_url: Optional[str] = None,
        api_key: Optional[str] = None,
        ca: Optional[str] = None,
        timeout: float = 60.0,
        max_retries: int = 2,
        headers: Optional[Mapping[str, str]] = None,
        http_client: Optional[httpx.AsyncClient] = None,
    ) -> None:
        url, key = base_url or os.environ.get("RUNNEL_URL"), api_key or os.environ.get("RUNNEL_API_KEY")
        cacert = ca or os.environ.get("RUNNEL_CACERT")
        beside = {} if url and key and cacert else local_server()
        base = url or beside.get("address") or "https://127.0.0.1:8443"
        local = beside if is_at(beside, base) else {}
        key = key or local.get("api_key")
        if not key:
            raise RunnelError("An API key is missing: pass api_key, set RUNNEL_API_KEY, or run in the folder of `runnel dev`.")
        self.base_url = base.rstrip("/").removesuffix("/v1")
        self.timeout = timeout
        self.max_retries = max_retries
        own = {"authorization": f"Bearer {key}", "user-agent": f"runnel-python/{__version__}"}
        self._headers = {**own, **_lower(headers)}
        self._is_own = http_client is None
        self._http = http_client or httpx.AsyncClient(
            verify=_trusting(cacert or local.get("cacert")),
            mounts=_direct(self.base_url),
        )
        self._add_resources()

    def _add_resources(self) -> None:
        """Gives the client its resources, which send their requests by it."""

    def with_options(
        self: Self,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Self:
        """Returns a client with other options, which shares the connections of this one and does not close them.

        ``headers`` are added to those that this client sends. What is left out stays as it is.
        """
        other = copy.copy(self)
        other._is_own = False
        other.timeout = self.timeout if timeout is None else timeout
        other.max_retries = self.max_retries if max_retries is None else max_retries
        other._headers = {**self._headers, **_lower(headers)}
        other._add_resources()
        return other

    async def close(self) -> None:
        """Closes the connections."""
        if self._is_own:
            await self._http.aclose()

    async def __aenter__(self: Self) -> Self:
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    async def json(self, method: str, path: str, **parts: Any) -> Any:
        """The body of a response as JSON."""
        timeout = parts.get("timeout")
        wait = float((parts.get("query") or {}).get("wait") or 0)
        limit = (self.timeout if timeout is None else timeout) + wait
        response = await self.send(method, path, **parts)
        return _object(await _read(response, LONGEST_ANSWER, limit), self.base_url + path)

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
        binary: str = "application/octet-stream",
        files: Any = None,
        headers: Optional[Mapping[str, str]] = None,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
        patience: float = 0.0,
    ) -> httpx.Response:
        """A response whose body has not been read. Raises an ``APIError`` for a refusal.

        ``binary`` is the media type of a body of bytes. ``patience`` is how many seconds it is sent again at least, however often that is.
        """
        _refuse_address(path)
        retries = self.max_retries if max_retries is None else max_retries
        sent = dict(self._headers)
        if method == "POST":
            sent["idempotency-key"] = idempotency_key or str(uuid.uuid4())
        if files is not None:
            content: Dict[str, Any] = {"files": files, "data": body or {}}
        elif body is not None:
            is_binary = isinstance(body, bytes)
            content = {"content": body if is_binary else _json(body)}
            sent["content-type"] = binary if is_binary else "application/json"
        else:
            content = {}
        sent.update(_lower(headers))
        limit = self.timeout if timeout is None else timeout
        limit += float((query or {}).get("wait") or 0)  # So long the server holds the response back.
        request = self._http.build_request(
            method, self.base_url + path, params=_pairs(query), headers=sent, timeout=limit, **content
        )
        begun = time.monotonic()
        attempt = 0
        while True:
            error: RunnelError
            try:
                # The key and what is sent are for this server: no redirect is followed.
                response = await self._http.send(request, stream=True, follow_redirects=False)
                if response.is_success:
                    return response
                if response.has_redirect_location:
                    await response.aclose()
                    target = response.headers["location"]
                    raise UnexpectedResponseError(f"{self.base_url} redirects to {target}: pass the server's own base_url.")
                error = await _refusal(response, limit)
            except httpx.TimeoutException as cause:
                error = APITimeoutError("The server did not respond in time.")
                error.__cause__ = cause
            except LOST as cause:
                error = _unreached(cause, self.base_url)
                error.__cause__ = cause
            if _is_conditional(request, body) and isinstance(error, APIConnectionError):
                raise error
            if not may_retry(error) or (attempt >= retries and time.monotonic() - begun >= patience):
                raise error
            await sleep(retry_delay(attempt, error))
            attempt += 1


def _unreached(cause: BaseException, base_url: str) -> APIConnectionError:
    """Returns the error of a request without a response: the server was not reached, or its certificate was refused."""
    fault: Optional[BaseException] = cause
    while fault is not None:
        if isinstance(fault, ssl.SSLCertVerificationError):
            hint = "pass ca, or set RUNNEL_CACERT to the certificate's file"
            return CertificateError(f"The certificate of {base_url} is not trusted ({fault}): {hint}.")
        fault = fault.__cause__ or fault.__context__
    return APIConnectionError(f"{base_url} was not reached: {cause or type(cause).__name__}")


def _is_conditional(request: httpx.Request, body: Any) -> bool:
    """True if the request has a condition that its own success ends, so that a retry would be refused."""
    return "if-match" in request.headers or (isinstance(body, Mapping) and "expected_version" in body)


async def _refusal(response: httpx.Response, limit: float) -> APIError:
    try:
        body = _object(await _read(response, LONGEST_REFUSAL, limit), "")
    except (UnexpectedResponseError, APIConnectionError):
        body = None  # A proxy may have said something of its own.
    return APIError.of(response.status_code, body, response.headers)


async def _read(response: httpx.Response, longest: Optional[int] = None, limit: Optional[float] = None) -> bytes:
    """Reads a body of at most ``longest`` bytes within ``limit`` seconds in all, because a timeout for each read bounds nothing."""
    begun = time.monotonic()
    pieces: List[bytes] = []
    length = 0
    try:
        announced = response.headers.get("content-length", "")
        if longest is not None and announced.isdigit() and len(announced) > len(str(longest)):
            raise UnexpectedResponseError(f"The response is longer than {longest} bytes.")
        async for piece in response.aiter_bytes():
            pieces.append(piece)
            length += len(piece)
            if longest is not None and length > longest:
                raise UnexpectedResponseError(f"The response is longer than {longest} bytes.")
            if limit is not None and time.monotonic() - begun > limit:
                raise APITimeoutError("The server did not respond in time.")
        return b"".join(pieces)
    except LOST as cause:
        raise APIConnectionError(f"The connection was lost: {cause or type(cause).__name__}") from cause
    finally:
        await response.aclose()


class AsyncPager(FirstPage[T]):
    """A list: iterated, it goes through all items of all pages; ``first_page()`` is its first page."""

    def __init__(self, client: AsyncClient, path: str, query: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        self._client = client
        self._path = path
        self._query = query
        self._options = options

    async def first_page(self) -> Page[T]:
        """The first page: ``data``, ``has_more``, ``first_id`` and ``last_id``."""
        return cast(Page[T], await self._client.json("GET", self._path, query=self._query, **self._options))

    async def pages(self) -> AsyncIterator[Page[T]]:
        """Page by page."""
        backward = self._query.get("ending_before") is not None
        query = dict(self._query)
        while True:
            page: Page[T] = await self._client.json("GET", self._path, query=query, **self._options)
            if not isinstance(page.get("data"), list):
                raise UnexpectedResponseError(f"{self._path} did not return a list.")
            yield page
            following = page.get("first_id" if backward else "last_id")
            if not page.get("has_more") or following is None:
                return
            place = "ending_before" if backward else "starting_after"
            if following == query.get(place):
                raise UnexpectedResponseError("The server returned the same page again.")
            query[place] = following

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page["data"]:
                yield item


class AsyncRunStream:
    """The events of a run, each once and in order, until the run ends.

    Lost connections and restarts of the server are survived: the stream reconnects after the last event that it had.
    Each event has ``event``, ``id`` and ``data``. Whoever stops reading before the end may ``close()`` it, or use it by
    ``with``.
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
        slim: bool = False,
        answerer: Optional[AsyncAnswerer] = None,
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
        self._timeout = SILENCE_SECONDS if timeout is None else timeout
        self._query = "?frames=slim" if slim else ""
        self._token: Any = None
        # When the server last was well: an event came that was new, or a connection lasted.
        self._heard = 0.0
        # The newest event of the journal.
        self._seq = 0
        # The step that speaks, by the number of the event that began it.
        self._step: Optional[int] = None
        self._answerer = answerer
        self._events = self._answered()

    def __aiter__(self) -> AsyncIterator[types.StreamEvent]:
        return self._events

    async def text_deltas(self) -> AsyncIterator[str]:
        """The text of the model as it comes, piece by piece."""
        async for event in self._events:
            if event.event == "token" and event.data.kind == "output":
                yield event.data.delta

    async def done(self) -> None:
        """Reads the stream to its end."""
        async for _ in self._events:
            pass

    async def close(self) -> None:
        """Ends the reading; the run goes on, unless it was created with ``on_disconnect="cancel"``."""
        await self._events.aclose()

    async def __aenter__(self) -> AsyncRunStream:
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    async def _answered(self) -> AsyncGenerator[types.StreamEvent, None]:
        """The events; calls are answered after the reader had the event that asks for them."""
        events = self._read()
        is_first = True
        try:
            async for event in events:
                yield event
                if self._answerer is None:
                    continue
                action = event.data.required_action if event.event == "run.requires_action" else None
                if is_first and event.event != "run.created":
                    # The run that a message was sent to (``if_thread_busy``) may have asked before.
                    action = await self._answerer.required_action(str(self.run_id))
                is_first = False
                if action:
                    await self._answerer.answer(str(self.run_id), action)
        except Exception as error:
            name_run(error, self.run_id)
            raise
        finally:
            await events.aclose()

    async def _read(self) -> AsyncGenerator[types.StreamEvent, None]:
        self._heard = time.monotonic()
        attempt = 0
        while True:
            problem: Optional[RunnelError] = None
            before = self._heard
            try:
                response = await self._open()
                try:
                    if response.status_code == 204:
                        return  # The last event was the end.
                    if not response.headers.get("content-type", "").startswith("text/event-stream"):
                        raise UnexpectedResponseError(f"{self._client.base_url} did not return a stream of events.")
                    async for frame in self._frames(response):
                        if frame.event == "error":
                            raise APIError.in_stream(frame.data, response.headers)
                        try:
                            if not self._is_new(frame):
                                continue
                            if frame.event == "token":
                                self._complete(frame.data)
                            self._note(frame)
                        except (AttributeError, TypeError) as cause:
                            raise _unlike(self._client.base_url) from cause
                        self._heard = time.monotonic()
                        yield frame
                        self._heard = time.monotonic()  # However long its reader took.
                        if frame.event in ("run.completed", "run.failed"):
                            return
                finally:
                    await response.aclose()
            except LOST as cause:
                problem = APIConnectionError(f"The stream was lost: {cause or type(cause).__name__}")
                problem.__cause__ = cause
            except RunnelError as error:
                if not may_retry(error):
                    raise
                problem = error
            # Without a problem it ended in the middle: the server stops, or a proxy lost its patience.
            if self._heard != before:
                attempt = 0
            if time.monotonic() - self._heard > self._patience:
                raise problem or APIConnectionError("The stream was lost.")
            await sleep(retry_delay(attempt, problem))
            attempt += 1

    async def _open(self) -> httpx.Response:
        if self.run_id is None:
            # Under the same key the server starts one run, however often it is asked, and returns its events from the first.
            return await self._client.send(
                "POST",
                f"/v1/runs{self._query}",
                body={**(self._body or {}), "stream": True},
                idempotency_key=self._key,
                timeout=self._timeout,
                max_retries=0,
            )
        headers = {"accept": "text/event-stream"}
        if self._last_id is not None:
            headers["last-event-id"] = self._last_id
        path = f"/v1/runs/{at(self.run_id)}/events{self._query}"
        return await self._client.send("GET", path, headers=headers, timeout=self._timeout, max_retries=0)

    async def _frames(self, response: httpx.Response) -> AsyncIterator[Any]:
        """Yields server-sent events of the HTML standard. An event that a lost connection cut off is dropped."""
        event: str = ""
        id: Optional[str] = None
        data: List[str] = []
        rest: List[bytes] = []  # Pieces of a line that has not ended: joined once, however many they are.
        length = 0
        opened = time.monotonic()
        async for chunk in response.aiter_bytes():
            if time.monotonic() - opened >= LASTING_SECONDS:
                self._heard = time.monotonic()  # Also by a comment, which is all that comes while a run waits.
            length += len(chunk)
            if length > LONGEST_FRAME:
                raise UnexpectedResponseError("An event of the stream is too long.")
            rest.append(chunk)
            if b"\n" not in chunk:
                continue
            *lines, last = b"".join(rest).split(b"\n")
            rest = [last]
            for raw in lines:
                line = _decoded(raw.rstrip(b"\r"))
                if line == "":
                    if data:
                        parsed = _object("\n".join(data), self._client.base_url)
                        yield Object(event=event or "message", id=id, data=parsed)
                    event, id, data = "", None, []
                    length = len(last)
                    continue
                field, _, value = line.partition(":")
                value = value.removeprefix(" ")
                if field == "event":
                    event = value
                elif field == "data":
                    data.append(value)
                elif field == "id":
                    id = value

    def _complete(self, token: Any) -> None:
        """Completes a token of a slim stream with the fields that it shares with the one before."""
        before, self._token = self._token, token
        if before is None or "kind" in token:
            return
        length = len(token.delta.encode("utf-16-le", "surrogatepass")) // 2
        token.update({**before, **token, "offset": before.offset + length})

    def _is_new(self, frame: Any) -> bool:
        if frame.event == "token":
            return frame.id is None or frame.id != self._last_id
        seq = frame.data.get("seq", self._seq + 1)
        is_new = bool(seq > self._seq)
        self._seq = max(seq, self._seq)
        return is_new

    def _note(self, frame: Any) -> None:
        if frame.id is not None:
            self._last_id = frame.id
        data = frame.data
        self.run_id = self.run_id or data.get("run_id")
        begins = frame.event == "step.started" and data.type == "model_call"
        begins_again = frame.event == "step.restarted" and data.discards == self._step
        if begins or begins_again:
            self._step = data.seq
            self.text = ""
        elif frame.event == "token" and data.kind == "output":
            self.text += data.delta


class AsyncFilesBase:
    """Base class of the generated resource ``files``."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def _upload(self, file: Any, filename: Optional[str], fields: Mapping[str, Any], **parts: Any) -> Any:
        name, content = _named(file)
        texts = {key: its if isinstance(its, str) else _json(its).decode() for key, its in fields.items()}
        files = {"file": (filename or name, content)}
        return await self._client.json("POST", "/v1/files", body=texts, files=files, **parts)


class AsyncToolsBase:
    """Base class of the generated resource ``tools``."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def _sync_all(self, tools: Sequence[Any], **parts: Any) -> List[Any]:
        """Makes a tool of the project of each function, one after the other."""
        if isinstance(tools, Mapping):
            raise TypeError("tools.sync takes a list of functions, as in sync([lookup]), or the name of one tool.")
        sent, _ = separate(tools)
        made: List[Any] = []
        for each in sent:
            body = {field: its for field, its in each.items() if field != "name"}
            path = f"/v1/tools/by-name/{at(each['name'])}"
            made.append(await self._client.json("PUT", path, body=body, **parts))
        return made


class AsyncRunsBase:
    """Base class of the generated resource ``runs``."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    def follow(
        self,
        run_id: str,
        *,
        last_event_id: Optional[str] = None,
        patience: float = 300.0,
        timeout: Optional[float] = None,
        slim: bool = False,
        extra_headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncRunStream:
        """The events of a run that was started elsewhere: from the first, or after ``last_event_id``.

        ``slim`` has less sent for each token. The events are the same, but for the time of a token: it is that of the
        first one.
        """
        client = _with_headers(self._client, extra_headers)
        return AsyncRunStream(
            client, run_id=run_id, last_event_id=last_event_id, patience=patience, timeout=timeout, slim=slim
        )

    def _stream(
        self,
        body: Mapping[str, Any],
        *,
        idempotency_key: Optional[str],
        patience: float,
        timeout: Optional[float],
        slim: bool,
        headers: Optional[Mapping[str, str]],
    ) -> AsyncRunStream:
        client = _with_headers(self._client, headers)
        tools = body.get("tools")
        sent, functions = separate(tools)
        rest = {name: its for name, its in body.items() if name != "tools"}
        return AsyncRunStream(
            client,
            body={**rest, **({"tools": sent} if sent else {})},
            idempotency_key=idempotency_key,
            patience=patience,
            timeout=timeout,
            slim=slim,
            answerer=AsyncAnswerer(
                client,
                functions,
                None,
                patience,
                are_sent=not isinstance(tools, Mapping),
                is_complete=False,
            )
            if functions
            else None,
        )

    async def _run(
        self,
        body: Mapping[str, Any],
        *,
        tools: Optional[Tools],
        decide: Optional[Callable[[Any], Any]],
        authorize: Optional[Callable[[Any], Any]],
        on_event: Optional[Callable[[Any], Any]],
        idempotency_key: Optional[str],
        patience: float,
        headers: Optional[Mapping[str, str]],
        schema: Any,
    ) -> Any:
        client = _with_headers(self._client, headers)
        sent, functions = separate(tools)
        if schema is not None:
            output_schema, convert = read_schema(schema)
            body = {**body, "overrides": {**(body.get("overrides") or {}), "output_schema": output_schema}}
        events = AsyncRunStream(
            client,
            body={**body, **({"tools": sent} if sent else {})},
            idempotency_key=idempotency_key,
            patience=patience,
            answerer=AsyncAnswerer(
                client,
                functions,
                decide,
                patience,
                are_sent=not isinstance(tools, Mapping),
                is_complete=True,
                authorize=authorize,
            ),
        )
        async with events:
            async for event in events:
                if on_event:
                    try:
                        await settled(on_event(event))
                    except Exception as error:
                        name_run(error, events.run_id)
                        raise
        run = await client.json("GET", f"/v1/runs/{at(str(events.run_id))}", patience=patience)
        if run.status != "completed":
            raise RunFailedError(run)
        if schema is None:
            return run
        try:
            return TypedRun({**run, "output_json": convert(run.output_json)})
        except Exception as error:
            name_run(error, run.id)  # The run is completed: its output can be retrieved.
            raise


def _with_headers(client: AsyncClient, headers: Optional[Mapping[str, str]]) -> AsyncClient:
    return client.with_options(headers=headers) if headers else client


class AsyncAnswerer:
    """Answers the calls that a run waits for, each once.

    ``are_sent``: the functions were sent with the run, so that they answer no calls of stored tools or subagents that
    have their names. ``is_complete``: a call that nothing here can answer is an error; else it is left to others.
    """

    def __init__(
        self,
        client: AsyncClient,
        functions: Mapping[str, Callable[..., Any]],
        decide: Optional[Callable[[Any], Any]],
        patience: float,
        *,
        are_sent: bool,
        is_complete: bool,
        authorize: Optional[Callable[[Any], Any]] = None,
    ) -> None:
        self._client = client
        self._functions = functions
        self._decide = decide
        self._patience = patience
        self._are_sent = are_sent
        self._is_complete = is_complete
        self._authorize = authorize
        self._shown: Set[Tuple[str, Optional[str]]] = set()
        # A call is listed again when others of its step were answered elsewhere; it is made once.
        self._answers: Dict[Tuple[Any, ...], Any] = {}

    async def required_action(self, run_id: str) -> Any:
        """Returns the run's ``required_action``, or None."""
        run = await self._client.json("GET", f"/v1/runs/{at(run_id)}", patience=self._patience)
        return run.required_action

    async def answer(self, run_id: str, action: Any) -> None:
        """Answers the calls of a required action, and shows the consents that are missing."""
        if action.get("authorizations"):
            await self._show_authorizations(run_id)
        calls = await self._without_webhooks(run_id, action.submit_tool_outputs.tool_calls)
        if self._is_complete:
            await self._expect_all(run_id, calls)  # Before any function is called.
        calls = [call for call in calls if self._has_answer(call)]
        if not calls:
            return
        fresh = [call for call in calls if _key(call) not in self._answers]
        for call in fresh:
            expect_callable_here(self._functions[call.name] if call.needs == "output" else self._decide)
        made = await together(_answer(call, self._functions, self._decide) for call in fresh)
        self._answers.update(zip((_key(call) for call in fresh), made))
        await self._submit(run_id, [self._answers[_key(call)] for call in calls])

    async def _show_authorizations(self, run_id: str) -> None:
        run = await self._client.json("GET", f"/v1/runs/{at(run_id)}", patience=self._patience)
        # The addresses are made for each reader, so they are read from the run.
        for one in (run.required_action or {}).get("authorizations") or []:
            if self._authorize is None and self._is_complete:
                place = f" at {one.url}" if one.url else ""
                raise ActionRequiredError(f"The run waits until {one.name} is connected{place}: pass authorize.", run)
            name = (one.oauth_client_id, one.user_id)
            if self._authorize is not None and name not in self._shown:
                self._shown.add(name)
                await settled(self._authorize(one))

    def _has_answer(self, call: Any) -> bool:
        if call.needs != "output":
            return self._decide is not None
        is_other = self._are_sent and (call.get("tool_id") or call.get("run_id"))
        return call.name in self._functions and not is_other

    async def _expect_all(self, run_id: str, calls: List[Any]) -> None:
        """Raises an ``ActionRequiredError`` for a call that nothing here can answer."""
        call = next((call for call in calls if not self._has_answer(call)), None)
        if call is None:
            return
        run = await self._client.json("GET", f"/v1/runs/{at(run_id)}", patience=self._patience)
        if call.needs == "output":
            raise ActionRequiredError(f"The run asks for the output of {call.name}: pass it in tools.", run)
        raise ActionRequiredError(f"The call of {call.name} needs a decision ({call.needs}): pass decide.", run)

    async def _without_webhooks(self, run_id: str, calls: List[Any]) -> List[Any]:
        """Removes the calls of webhook tools: their receivers send the result themselves."""
        kept = []
        for call in calls:
            if call.needs == "output" and not self._has_answer(call):
                caller = call.get("run_id") or run_id
                run = await self._client.json("GET", f"/v1/runs/{at(caller)}", patience=self._patience)
                if any(its.id == call.tool_call_id and its.type == "webhook" for its in run.tool_calls):
                    continue
            kept.append(call)
        return kept

    async def _submit(self, run_id: str, answers: List[Any]) -> None:
        path = f"/v1/runs/{at(run_id)}/submit_tool_outputs"
        try:
            await self._client.json("POST", path, body={"tool_outputs": answers}, patience=self._patience)
        except APIError as error:
            if error.code not in _ANSWERED_ELSEWHERE:
                raise
            if len(answers) > 1:
                for answer in answers:
                    await self._submit(run_id, [answer])


def _key(call: Any) -> Tuple[Any, ...]:
    """The answer that a call waits for: one call may ask several questions, one after the other."""
    return (call.tool_call_id, call.needs, (call.get("elicitation") or {}).get("id"))


#: Another client answered the call meanwhile, the dashboard for example, or the run ended.
_ANSWERED_ELSEWHERE = ("tool_call_already_resolved", "run_not_awaiting_action", "run_already_terminal")


async def _answer(
    call: Any, tools: Mapping[str, Callable[..., Any]], decide: Optional[Callable[[Any], Any]]
) -> Dict[str, Any]:
    if call.needs != "output" and decide is not None:
        return {**(await settled(decide(call))), "tool_call_id": call.tool_call_id}
    try:
        output = await settled(tools[call.name](**call.arguments))
        if isinstance(output, ToolContent):
            _json(output.parts)
            return {"tool_call_id": call.tool_call_id, "content": output.parts}
        # What is not JSON is a fault of the tool too.
        output = json.loads(json.dumps(output, allow_nan=False, default=_plain))
        return {"tool_call_id": call.tool_call_id, "output": output}
    except Exception as error:  # noqa: BLE001 - the model is told of whatever it was
        return {"tool_call_id": call.tool_call_id, "output": _said(error), "is_error": True}


def _said(error: Exception) -> str:
    """An exception for a model: a ``KeyError`` has the key alone as its text."""
    return repr(error) if isinstance(error, KeyError) else str(error) or type(error).__name__


def _plain(value: Any) -> Any:
    """What a tool returned, for JSON: models of pydantic and dataclasses are objects, sets are lists, dates are texts."""
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (set, frozenset)):
        return list(value)
    if isinstance(value, (Decimal, uuid.UUID, os.PathLike)):
        return str(value)
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _named(file: Any) -> Tuple[str, bytes]:
    """The name and the bytes of what is uploaded: whole, as a retry must be able to send it again."""
    if isinstance(file, (str, os.PathLike)):
        with open(file, "rb") as opened:
            return os.path.basename(file), opened.read()
    if isinstance(file, (bytes, bytearray, memoryview)):
        return "file", bytes(file)
    content = file.read()
    name = getattr(file, "name", None)
    return os.path.basename(name) if isinstance(name, str) else "file", (
        content.encode() if isinstance(content, str) else content
    )


def may_retry(error: RunnelError) -> bool:
    """True if a retry may succeed. Each request is safe to repeat: a POST keeps its idempotency key."""
    if isinstance(error, APIConnectionError):
        return not isinstance(error, CertificateError)
    if not isinstance(error, APIError):
        return False
    is_passing = error.status == 429 or error.status >= 500 or error.code == "idempotency_in_progress"
    return is_passing and (_wish_of(error) or 0) <= LONGEST_WISH_SECONDS


def retry_delay(attempt: int, error: Optional[RunnelError] = None) -> float:
    """The server's own wish, else half a second, doubled each time, up to eight seconds; shortened by chance.

    A server that wishes less is believed once.
    """
    own = min(8.0, 0.5 * 2.0 ** min(attempt, 4)) * (1 - random.random() / 4)
    wish = _wish_of(error) if isinstance(error, APIError) else None
    return own if wish is None else max(wish, own if attempt > 0 else 0.0)


#: Longest ``Retry-After`` that is waited for; beyond it the caller gets the error and decides.
LONGEST_WISH_SECONDS = 60.0


def _wish_of(error: APIError) -> Optional[float]:
    """How many seconds the server asks to wait: ``Retry-After`` as seconds or as a date. None: it says nothing."""
    text = error.headers.get("retry-after", "").strip()
    if text.isascii() and text.replace(".", "", 1).isdigit():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None


def _lower(headers: Optional[Mapping[str, str]]) -> Dict[str, str]:
    return {name.lower(): value for name, value in (headers or {}).items()}


def at(value: Union[str, int]) -> str:
    """A value as a part of a path."""
    return quote(str(value), safe="")


def _refuse_address(path: str) -> None:
    """Raises for a part of a path by which httpx would ask for another address: ``/keys/..`` becomes ``/``."""
    for part in path[1:].split("?", 1)[0].split("/"):
        if part.lower().replace("%2e", ".") in ("", ".", ".."):
            raise RunnelError(f'A part of {path} is empty, "." or "..", which no id or name can be.')


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as cause:
        raise UnexpectedResponseError("What the server sent is not UTF-8.") from cause


def _object(text: Union[str, bytes], source: str) -> Any:
    """A JSON object. Raises an ``UnexpectedResponseError`` for what is none."""
    try:
        value = json.loads(_decoded(text) if isinstance(text, bytes) else text, object_hook=Object)
    except (ValueError, RecursionError) as cause:
        raise _unlike(source) from cause
    if not isinstance(value, Object):
        raise _unlike(source)
    return value


def _unlike(source: str) -> UnexpectedResponseError:
    return UnexpectedResponseError(f"{source} did not return what a runnel server returns. Is that its address?")


def _json(value: Any) -> bytes:
    return json.dumps(value, allow_nan=False, default=_refuse).encode()


def _refuse(value: Any) -> Any:
    hint = ": only `tools` of runs and tools.sync take functions, and an agent has ids" if callable(value) else ""
    raise TypeError(f"{value!r} is not JSON and cannot be sent{hint}.")


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


def _direct(base_url: str) -> Optional[Dict[str, None]]:
    """Keeps requests to this machine, and the key in them, from the proxies that the environment names."""
    host = urlsplit(base_url).hostname or ""
    try:
        is_own = ip_address(host).is_loopback
    except ValueError:
        is_own = host == "localhost" or host.endswith(".localhost")
    return {f"all://[{host}]" if ":" in host else f"all://{host}": None} if is_own else None


def _trusting(ca: Optional[str]) -> Union[bool, ssl.SSLContext]:
    if ca is None:
        return True
    context = ssl.create_default_context()
    try:
        context.load_verify_locations(cafile=ca)
    except OSError as cause:  # An SSLError is one too.
        raise RunnelError(f"The certificate {ca} cannot be used: {cause}") from cause
    return context
