import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { requested, stateOf, turnWithCalls } from "../../domain/__fixtures__/events.ts";
import type { HttpCall, HttpTool } from "../../domain/agent-snapshot.ts";
import { limits } from "../../domain/limits.ts";
import type { ResponseFailure } from "../../domain/response-failure.ts";
import { createEgress } from "../../lib/egress.ts";
import { newSigningSecret } from "../../lib/signature.ts";
import { httpTool } from "../../testing/run-fixture.ts";
import type { ToolSecrets } from "./messages.ts";
import { run as runHttpTool } from "./tools/http.ts";
import { secretTexts } from "./tools/secret-texts.ts";
import type { ToolResult } from "./tools/tool-result.ts";

type Handler = (request: Request, body: string) => Response | Promise<Response>;

let seen: { request: Request; headers: Headers; url: string; body: string }[] = [];
let handle: Handler;
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    // Copied now: those of a request without a body are gone once it was answered.
    const headers = new Headers(request.headers);
    const body = await request.text();
    seen.push({ request, headers, url: request.url, body });
    return handle(request, body);
  },
});
afterAll(() => server.stop(true));
beforeEach(() => {
  seen = [];
  handle = () => Response.json({ ok: true });
});

const signing_secret = newSigningSecret();
const url = `http://127.0.0.1:${server.port}/do`;
const [call] = stateOf(...turnWithCalls(["call_1", null])).calls;

interface Setting {
  http?: Partial<HttpCall>;
  tool?: Partial<HttpTool>;
  headers?: Record<string, string>;
  args?: Record<string, unknown>;
  loopback?: boolean;
  signal?: AbortSignal;
  named?: ToolSecrets["named"];
  hidden?: string[];
  query?: Record<string, string>;
  files?: Record<string, { name: string; text: string; isMade?: boolean }>;
}

function run({
  http = {},
  tool = {},
  headers = {},
  query,
  files = {},
  args,
  loopback = true,
  signal,
  named,
  hidden = [],
}: Setting = {}) {
  const snapshot = httpTool("t", url, tool);
  const egress = createEgress({ allow: [], loopback });
  return runHttpTool(
    { ...call!, arguments: args ?? requested("call_1", 1).call.arguments },
    { ...snapshot, http: { ...snapshot.http, ...http } },
    {
      run_id: "run_1",
      owner: "project",
      standing: () => {
        throw new Error("Nobody searches.");
      },
      recorded: Promise.resolve(),
      secrets: async () => ({ headers, ...(query && { query }), signing_secret, named }),
      accessToken: async () => null,
      hidden: () => hidden,
      egress,
      ask: (async (of: string, { reference }: { reference: string }) => {
        if (of !== "made_file") throw new Error("An HTTP tool asks nothing else.");
        return files[reference]?.isMade ? { file_id: reference } : null;
      }) as never,
      keepFile: () => Promise.reject(new Error("An HTTP tool keeps nothing.")),
      readFile: async (id, most) => {
        const file = files[id];
        if (!file) return "missing";
        return file.text.length > most
          ? "too_large"
          : { name: file.name, bytes: Uint8Array.from(Buffer.from(file.text)) };
      },
      fileIds: Object.keys(files).filter((id) => !files[id]?.isMade && files[id]?.name !== "other.txt"),
      sandbox: { run: () => Promise.reject(new Error("An HTTP tool runs no code.")) },
      readDocument: () => Promise.reject(new Error("An HTTP tool reads no document.")),
      mcp: { callTool: () => Promise.reject(new Error("An HTTP tool is no server's.")) },
      now: Date.now,
    },
    signal ?? new AbortController().signal,
  ) as Promise<ToolResult>;
}

test("a call is a POST of its arguments, with its key and the tool's own headers, signed for the receiver", async () => {
  expect(await run({ headers: { Accept: "text/x", Authorization: "Bearer s", "Idempotency-Key": "forged" } })).toEqual({
    output: { ok: true },
    error: null,
    attempts: 1,
  });
  const [{ request, body }] = seen as [(typeof seen)[0]];
  expect([request.method, body]).toEqual(["POST", '{"city":"call_1"}']);
  const headers = Object.fromEntries(request.headers);
  expect(headers).toMatchObject({
    "content-type": "application/json",
    accept: "text/x",
    authorization: "Bearer s",
    "idempotency-key": "call_1",
    "x-run-id": "run_1",
    "x-tool-call-id": "call_1",
  });
  expect(new Webhook(signing_secret).verify(body, headers)).toEqual({ city: "call_1" });
  expect(() => new Webhook(signing_secret).verify(`${body} `, headers)).toThrow();
});

test("GET sends its arguments in the query, added to the URL's own", async () => {
  await run({ http: { method: "GET", url: `${url}?a=1` }, args: { q: "ü &", n: 2, list: [1, "b"] } });
  const [{ request, url: asked, body }] = seen as [(typeof seen)[0]];
  expect([request.method, body]).toEqual(["GET", ""]);
  expect([...new URL(asked).searchParams]).toEqual([
    ["a", "1"],
    ["q", "ü &"],
    ["n", "2"],
    ["list", "1"],
    ["list", "b"],
  ]);
});

const busy = (status: number) => () => new Response("busy", { status, headers: { "retry-after": "0" } });

test("an idempotent tool is retried with the same key", async () => {
  handle = (request, body) =>
    seen.length < 3 ? busy(503)() : Response.json({ body, key: request.headers.get("idempotency-key") });
  const outcome = await run({ tool: { idempotent: true }, http: { retries: 2 } });
  expect(outcome).toMatchObject({ error: null, attempts: 3, output: { key: "call_1" } });
  expect(new Set(seen.map(({ request }) => request.headers.get("idempotency-key"))).size).toBe(1);
});

test("a tool that is not idempotent is called once, unless the server says that it did not accept the call", async () => {
  handle = busy(500);
  expect(await run({ http: { retries: 5 } })).toMatchObject({ attempts: 1, error: { code: "http_error" } });
  expect(seen).toHaveLength(1);
  for (const status of [429, 403]) {
    handle = busy(status);
    expect(await run({ http: { retries: 1 } })).toMatchObject({ attempts: 2, error: { code: "http_error" } });
  }
  handle = () => new Response("forbidden", { status: 403 });
  expect(await run({ http: { retries: 1 } })).toMatchObject({ attempts: 1 });
});

const anHour_s = 3600;
const in_s = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;
test.each([
  ["the seconds until then", () => anHour_s],
  ["the time in seconds", () => in_s(anHour_s)],
  ["the time in milliseconds", () => Date.now() + anHour_s * 1000],
])("a service whose rate limit ends in an hour is called once, and the model reads the time: %s", async (_, reset) => {
  const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(reset()) };
  handle = () => new Response("busy", { status: 429, headers });
  const { error, attempts } = await run({ http: { retries: 1 } });
  expect(error?.message).toMatch(/can be called again in 3(5\d|60)\d seconds/);
  expect([attempts, seen.length]).toEqual([1, 1]);
});

test.each([
  ["seconds of more than a day", () => String(2 * 24 * anHour_s)],
  ["a time in a month", () => String(in_s(30 * 24 * anHour_s))],
  ["a time in microseconds", () => String(Date.now() * 1000)],
  ["a negative number", () => "-1"],
  ["nothing", () => ""],
  ["a word", () => "soon"],
])("an end of the rate limit that cannot be meant is not believed: %s", async (_, reset) => {
  const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset() };
  handle = () => new Response("forbidden", { status: 403, headers });
  expect(await run({ http: { retries: 1 } })).toMatchObject({
    attempts: 1,
    error: { message: "The tool returned status 403: forbidden" },
  });
  expect(seen).toHaveLength(1);
});

test("a response that exceeds the timeout is an error", async () => {
  handle = () => new Promise(() => {});
  expect(await run({ http: { timeout_ms: 20 } })).toMatchObject({
    output: null,
    attempts: 1,
    error: { code: "timeout" },
  });
});

const deep = `${"[".repeat(10_000)}${"]".repeat(10_000)}`;
test.each<[string, Handler, Setting, object]>([
  ["not JSON", () => new Response("<html>"), {}, { error: { code: "invalid_response" } }],
  ["JSON that nests too deep", () => new Response(deep), {}, { error: { code: "invalid_response" } }],
  ["a dangerous key", () => new Response('{"__proto__":{}}'), {}, { error: { code: "invalid_response" } }],
  [
    "too much",
    () => new Response(`"${"x".repeat(limits.tool_answer_bytes)}"`),
    {},
    { error: { code: "output_too_large" } },
  ],
  [
    "too much text",
    () => new Response("x".repeat(limits.tool_answer_bytes + 1)),
    { http: { response: "text" } },
    { output: expect.stringMatching(/xxx\n\[cut after 4194304 bytes\]$/) },
  ],
  ["nothing", () => new Response(null, { status: 204 }), {}, { output: null, error: null }],
  [
    "nothing as text",
    () => new Response(null, { status: 204 }),
    { http: { response: "text" } },
    { output: "", error: null },
  ],
  ["text", () => new Response("Rome"), { http: { response: "text" } }, { output: "Rome" }],
  [
    "an error with a text",
    () => new Response("no such city", { status: 500 }),
    {},
    { error: { code: "http_error", message: "The tool returned status 500: no such city" } },
  ],
])("a server that answers %s", async (_, answer, setting, expected) => {
  handle = answer;
  expect(await run(setting)).toMatchObject(expected);
});

test("redirects of a GET are followed, at most three", async () => {
  let left = 3;
  handle = () => (left-- > 0 ? Response.redirect("/next", 307) : Response.json({ there: true }));
  expect(await run({ http: { method: "GET" } })).toMatchObject({ output: { there: true } });
  handle = () => Response.redirect("/round", 307);
  expect(await run({ http: { method: "GET" } })).toMatchObject({ error: { code: "too_many_redirects" } });
});

// If followed, a 302 would turn the POST into a GET without arguments, whose response would pass for the call's result.
test.each([302, 303, 307])(
  "a POST that is redirected with %d is an error, and the redirect is not followed",
  async (status) => {
    handle = (request) =>
      new URL(request.url).pathname === "/elsewhere"
        ? Response.json({ fooled: true })
        : Response.redirect("/elsewhere", status);
    expect(await run()).toMatchObject({ error: { code: "http_error" } });
    expect(seen).toHaveLength(1);
  },
);

test("an address in our own network is refused, and nothing is sent", async () => {
  expect(await run({ loopback: false, http: { url: "https://127.0.0.1/" } })).toMatchObject({
    error: { code: "address_forbidden" },
  });
  expect(seen).toEqual([]);
});

test("an unreachable server may be called again, whatever the tool: nothing was sent", async () => {
  const gone = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const { port } = gone;
  await gone.stop(true);
  const outcome = await run({ http: { url: `http://127.0.0.1:${port}/`, retries: 1 } });
  expect(outcome).toMatchObject({ attempts: 2, error: { code: "connect_failed" } });
});

test("an aborted call closes its connection", async () => {
  const closed = Promise.withResolvers<void>();
  const abort = new AbortController();
  handle = (request) => {
    request.signal.addEventListener("abort", () => closed.resolve());
    abort.abort();
    return new Promise(() => {});
  };
  expect(await run({ signal: abort.signal })).toMatchObject({ error: { code: "aborted" } });
  await closed.promise;
});

const hidden = ["canary-of-a-header"];
const [canary] = hidden as [string];

test.each<[string, () => Response, Partial<HttpCall>, string]>([
  ["JSON", () => Response.json({ [canary]: [`Bearer ${canary}`] }), {}, '{"[hidden]":["Bearer [hidden]"]}'],
  ["JSON that spells it with escapes", () => new Response('["c\\u0061nary-of-a-header"]'), {}, '["[hidden]"]'],
  ["text", () => new Response(`I got ${canary}.`), { response: "text" }, '"I got [hidden]."'],
])("a secret that is echoed as %s is hidden from every reader", async (_, answer, http, shown) => {
  handle = answer;
  expect(JSON.stringify((await run({ http, hidden })).output)).toBe(shown);
});

test("a secret that is echoed in an error, or cut off by the limit, is hidden, even in part", async () => {
  const answers = [
    new Response(`${"x".repeat(990)}${canary}`, { status: 400 }),
    new Response(`${"x".repeat(190)}${canary} is no JSON`),
    new Response(`${"x".repeat(90)}${canary}`),
  ];
  const settings: Setting[] = [{}, {}, { http: { response: "text" }, tool: { max_output_bytes: 100 } }];
  for (const [index, answer] of answers.entries()) {
    handle = () => answer;
    const outcome = JSON.stringify(await run({ ...settings[index], hidden }));
    expect(outcome).toContain("x".repeat(50));
    expect(outcome).not.toContain("cana");
  }
});

const odd = 's3cr/et+Value"42-zz';
const echoed = JSON.stringify({ error: `no ${odd}` }).replaceAll("/", "\\/");
const redirect = () =>
  new Response(null, { status: 302, headers: { location: `http://${shouted}.internal.example/` } });
const shouted = "Canary-Of-A-Header2";

test.each<[string, () => Response, Partial<HttpCall>]>([
  ["escaped in an error", () => new Response(echoed, { status: 400 }), {}],
  ["escaped in a text", () => new Response(echoed), { response: "text" }],
  ["escaped in what is no JSON", () => new Response(`${echoed}!`), {}],
  ["as a key above one that is not allowed", () => new Response(`{"${shouted}":{"__proto__":1}}`), {}],
  ["as the host of a redirect", redirect, { method: "GET" }],
])("a secret that is echoed %s is hidden", async (_, answer, http) => {
  handle = answer;
  const outcome = JSON.stringify(await run({ http, hidden: [odd, shouted] }));
  expect(outcome).toContain("[hidden]");
  expect(outcome).not.toMatch(/s3cr|Value|canary/i);
});

test.each<[string, string, string[]]>([
  ["cookie", "sid=cookieSecret123; session_id=other-secret", ["cookieSecret123", "other-secret"]],
  ["authorization", 'Token token="tokenSecret==", user=short', ["tokenSecret"]],
  ["authorization", "Bearer bearerSecret", ["bearerSecret"]],
  [
    "authorization",
    `Basic ${btoa("ada@example.com:pass:word")}`,
    ["ada@example.com:pass:word", "ada@example.com", "pass:word"],
  ],
])("every part of a header %s: %s is looked for, and no name of a part", (name, value, parts) => {
  const texts = secretTexts({ headers: { [name]: value }, signing_secret });
  expect(texts).toEqual(expect.arrayContaining([value, ...parts]));
  expect(texts).not.toContain("session_id");
});

test("a call whose headers name a deleted secret is an error with its name, and nothing is sent", async () => {
  const outcome = await run({ named: { values: [], missing: ["KEY"] } });
  expect(outcome).toMatchObject({ output: null, error: { code: "secret_not_found" }, attempts: 0 });
  expect(outcome.error?.message).toContain("KEY");
  expect(seen).toEqual([]);
});

test("arguments fill the URL's placeholders and are sent nowhere else", async () => {
  const named = { url: `${url}/{city}/days/{day}?unit={unit}` };
  const args = { city: "São Paulo/x", day: 3, unit: "°C", list: ["a", "b c", 1, { d: 1 }], none: [] };
  await run({ http: { ...named, method: "GET" }, args });
  await run({ http: named, args });
  const path = "/do/S%C3%A3o%20Paulo%2Fx/days/3?unit=%C2%B0C";
  const [got, posted] = seen.map(({ request, body }) => [new URL(request.url), body] as const);
  expect(got![0].pathname + got![0].search).toBe(`${path}&list=a&list=b+c&list=1&list=%7B%22d%22%3A1%7D`);
  expect(posted![0].pathname + posted![0].search).toBe(path);
  expect(JSON.parse(posted![1])).toEqual({ list: args.list, none: [] });
});

test("if an argument of the URL is missing, nothing is sent", async () => {
  for (const args of [{}, { city: null }, { city: "" }, { city: ["a"] }, { city: ".." }])
    expect(await run({ http: { url: `${url}/{city}/all`, method: "DELETE" }, args })).toEqual({
      output: null,
      error: { code: "url_argument_invalid", message: expect.stringMatching(/city|\.\./) },
      request: "not_sent",
      attempts: 0,
    });
  expect(seen).toEqual([]);
});

test("a filled URL is subject to the network policy like any other", async () => {
  const { error } = await run({ http: { url: `${url}/{city}` }, args: { city: "a" }, loopback: false });
  expect(["address_forbidden", "scheme_forbidden"]).toContain(error!.code);
});

const mapped = (request: HttpCall["request"], http: Partial<HttpCall> = {}): Partial<HttpCall> => ({
  request,
  ...http,
});

test("arguments become path, query, header, cookie and body, under the names of the request", async () => {
  const request = {
    parameters: [
      { argument: "ids", name: "id", in: "path", style: "simple" },
      { argument: "tags", in: "query", style: "pipeDelimited" },
      { argument: "filter", in: "query", style: "deepObject" },
      { argument: "version", name: "X-Version", in: "header" },
      { argument: "seat", in: "cookie" },
    ],
    body: { type: "json", fields: [{ argument: "body_id", name: "id" }, { argument: "note" }] },
  } satisfies HttpCall["request"];
  await run({
    http: mapped(request, { url: `${url}/{ids}?fixed=1` }),
    headers: { Cookie: "key=secret-key-1" },
    args: { ids: [1, "b/c"], tags: ["x", "y"], filter: { a: 1 }, version: "2", seat: "1;A", body_id: 7, note: null },
  });
  const [{ request: sent, url: asked, body }] = seen as [(typeof seen)[0]];
  expect(new URL(asked).pathname).toBe("/do/1,b%2Fc");
  expect(new URL(asked).search).toBe("?fixed=1&tags=x%7Cy&filter%5Ba%5D=1");
  expect([sent.headers.get("x-version"), sent.headers.get("cookie")]).toEqual(["2", "key=secret-key-1; seat=1%3BA"]);
  expect(JSON.parse(body)).toEqual({ id: 7, note: null });
});

test("arguments that are not given are not sent, and without any field there is no body", async () => {
  const request = {
    parameters: [{ argument: "q", in: "query" }],
    body: { type: "json", fields: [{ argument: "note" }] },
  } satisfies HttpCall["request"];
  await run({ http: mapped(request), args: { q: null, other: 1 } });
  const [{ headers, url: asked, body }] = seen as [(typeof seen)[0]];
  expect([new URL(asked).search, body, headers.get("content-type")]).toEqual(["", "", null]);
});

test("a header of an argument never replaces one of the tool, and cannot begin another", async () => {
  const request = {
    parameters: [{ argument: "token", name: "X-Token", in: "header" }],
    body: null,
  } satisfies HttpCall["request"];
  await run({ http: mapped(request), headers: { "X-TOKEN": "own-token-1" }, args: { token: "given" } });
  expect(seen[0]!.headers.get("x-token")).toBe("own-token-1");
  for (const token of ["a\r\nx-other: 1", "ü"])
    expect(await run({ http: mapped(request), args: { token } })).toMatchObject({
      error: { code: "url_argument_invalid" },
    });
  expect(seen).toHaveLength(1);
});

test("a form is URL-encoded: a list repeats its name, an object is JSON or in brackets", async () => {
  const fields = [{ argument: "tags" }, { argument: "data" }, { argument: "meta", style: "deepObject" }] as const;
  const request = { parameters: [], body: { type: "form", fields: [...fields] } } satisfies HttpCall["request"];
  await run({ http: mapped(request), args: { tags: ["a", "b c"], data: { x: 1 }, meta: { k: "v" } } });
  const [{ request: sent, body }] = seen as [(typeof seen)[0]];
  expect(sent.headers.get("content-type")).toBe("application/x-www-form-urlencoded");
  expect(body).toBe("tags=a&tags=b%20c&data=%7B%22x%22%3A1%7D&meta%5Bk%5D=v");
});

test("a multipart form has the run's files under their names, and its values as parts", async () => {
  const request = {
    parameters: [],
    body: { type: "multipart", fields: [{ argument: "files", name: 'the "files"', file: true }, { argument: "note" }] },
  } satisfies HttpCall["request"];
  const files = {
    file_1: { name: "a.txt", text: "first" },
    file_2: { name: 'b"\r\n.txt', text: "second", isMade: true },
  };
  await run({
    http: mapped(request),
    files,
    headers: { "Content-Type": "text/plain" },
    args: { files: ["file_1", "file_2"], note: { a: 1 } },
  });
  const [{ headers, body }] = seen as [(typeof seen)[0]];
  const form = await new Response(body, { headers: { "content-type": headers.get("content-type")! } }).formData();
  const parts = [...form.entries()] as [string, unknown][];
  expect(parts.at(-1)).toEqual(["note", '{"a":1}']);
  expect(parts).toHaveLength(3);
  expect(seen[0]!.body).toContain('filename="a.txt"\r\ncontent-type: text/plain');
  expect(seen[0]!.body).toContain('filename="b%22%0D%0A.txt"');
  expect(seen[0]!.body).toContain('name="the %22files%22"');
});

test("a file that the run neither got nor made is not sent, though the project has it", async () => {
  const request = { parameters: [], body: { type: "file", argument: "file" } } satisfies HttpCall["request"];
  const files = { file_1: { name: "other.txt", text: "of another user" }, file_2: { name: "a.txt", text: "mine" } };
  for (const file of ["file_1", "file_9", 7, null])
    expect((await run({ http: mapped(request), files, args: { file } })).error).not.toBeNull();
  expect(seen).toEqual([]);
  await run({ http: mapped(request), files, args: { file: "file_2" } });
  expect([seen[0]!.body, seen[0]!.request.headers.get("content-type")]).toEqual(["mine", "application/octet-stream"]);
});

test("the tool's own query parameters are added, and an argument cannot stand beside them", async () => {
  const request = { parameters: [{ argument: "key", in: "query" }], body: null } satisfies HttpCall["request"];
  await run({ http: mapped(request, { method: "GET" }), query: { key: "secret key 1" }, args: { key: "given" } });
  expect([...new URL(seen[0]!.url).searchParams]).toEqual([["key", "secret key 1"]]);
  expect(secretTexts({ headers: {}, query: { key: "secret key 1" }, signing_secret })).toContain("secret key 1");
});

test("an argument in the path cannot lead to another path, whatever its style", async () => {
  for (const style of ["simple", "label"] as const) {
    const request = { parameters: [{ argument: "id", in: "path", style }], body: null } satisfies HttpCall["request"];
    const outcome = await run({
      http: mapped(request, { url: `${url}/{id}/x` }),
      args: { id: style === "label" ? "." : ".." },
    });
    expect(outcome).toMatchObject({ error: { code: "url_argument_invalid" } });
  }
  expect(seen).toEqual([]);
});

describe("a tool's rules tell which responses are failures", () => {
  const failures: ResponseFailure[] = [
    { field: "errors" },
    { field: "result.code", equals: 7, hint: "Seven is closed." },
    { status: 409, hint: "Another customer has it." },
    { field: "busy", equals: true, repeat: true },
  ];
  const http = { failures, retries: 2 };

  test.each<[string, object, string]>([
    ["a field that is there", { data: null, errors: [{ message: "Cannot query" }] }, "Cannot query"],
    ["a field of a field", { result: { code: 7 } }, "\nSeven is closed."],
  ])("%s", async (_, answer, words) => {
    handle = () => Response.json(answer);
    const { output, error } = await run({ http });
    expect([output, error?.code]).toEqual([null, "http_error"]);
    expect(error?.message).toContain(words);
    expect(seen).toHaveLength(1);
  });

  test("another status than 2xx has its hint, and is a failure without one", async () => {
    handle = () => new Response("taken", { status: 409 });
    expect((await run({ http })).error?.message).toBe("The tool returned status 409: taken\nAnother customer has it.");
    handle = () => new Response("teapot", { status: 418 });
    expect((await run({ http })).error?.message).toBe("The tool returned status 418: teapot");
  });

  test.each([
    ["a field that is null", { errors: null, result: { code: 8 } }],
    ["another value, and one of another type", { result: { code: "7" }, busy: "true" }],
    ["a list, a text and nothing", [{ errors: 1 }]],
    ["a name that every object has", { result: {} }],
  ])("%s is none", async (_, answer) => {
    handle = () => Response.json(answer);
    expect(await run({ http: { failures: [...failures, { field: "toString" }] } })).toMatchObject({ output: answer });
  });

  test("a call that the service did not perform is sent again, also one that is not idempotent", async () => {
    handle = () => Response.json({ busy: seen.length < 3 }, { headers: { "retry-after": "0" } });
    expect(await run({ http, tool: { idempotent: false } })).toMatchObject({ output: { busy: false }, attempts: 3 });
  });

  test("secrets in a failure are hidden", async () => {
    handle = () => Response.json({ errors: "bad key s3cret-value" });
    const { error } = await run({ http, hidden: ["s3cret-value"] });
    expect(error?.message).toContain("bad key [hidden]");
  });
});
