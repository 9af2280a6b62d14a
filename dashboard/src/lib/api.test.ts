import { afterAll, expect, test } from "bun:test";
import { ApiError, get, post, query, remove, resourceUrl } from "./api.ts";
import { jsonText, readJson } from "./json-text.ts";

const server = Bun.serve({
  port: 0,
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/echo") {
      const header = request.headers.get("x-runnel-console");
      return Response.json({
        method: request.method,
        header,
        body: request.method === "POST" ? await request.json() : null,
      });
    }
    if (pathname === "/exact")
      return new Response(await request.text(), { headers: { "content-type": "application/json" } });
    if (pathname === "/one")
      return Response.json({ error: { code: "name_taken", message: "Taken.", param: "name" } }, { status: 409 });
    if (pathname === "/html") return new Response("<h1>Bad gateway</h1>", { status: 502 });
    const error = {
      code: "rate_limited",
      message: "Too many.",
      errors: [{ param: "email", code: "x", message: "Wrong." }],
      details: { a: 1 },
    };
    return Response.json({ error, request_id: "req_1" }, { status: 429, headers: { "retry-after": "42" } });
  },
});
afterAll(() => server.stop(true));

const refusal = (path: string) => get(new URL(path, server.url).href).catch((error: unknown) => error);

test("a write carries the header that another site's form cannot set", async () => {
  expect(await post<object>(new URL("/echo", server.url).href, { a: 1 })).toEqual({
    method: "POST",
    header: "1",
    body: { a: 1 },
  });
  expect(await get<object>(new URL("/echo", server.url).href)).toEqual({ method: "GET", header: null, body: null });
});

test.each(["..", ".", "%2e%2E"])("nothing is sent for a path segment that changes the address: %s", async (part) => {
  for (const rest of ["", "/more", "?a=b"]) {
    const error = await remove(`${new URL("/echo", server.url).href}/${part}${rest}`).catch(
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ code: "validation_failed", status: 400 });
  }
  expect(await get(`${new URL("/echo", server.url).href}?a=/../`)).toMatchObject({ method: "GET" });
});

test("large numbers keep all digits in both directions, also through an editor", async () => {
  const text = '{"id":2512292042121000001,"of":[1e400,7]}';
  const { value } = readJson(text);
  const url = new URL("/exact", server.url).href;
  const came = await post<Record<string, unknown>>(url, value);
  expect([JSON.stringify(came), jsonText(came.id)]).toEqual([text, "2512292042121000001"]);
});

test("an error contains code, request id, field errors and retry delay", async () => {
  expect(await refusal("/refused")).toMatchObject({
    status: 429,
    code: "rate_limited",
    message: "Too many.",
    requestId: "req_1",
    fieldErrors: [{ param: "email", message: "Wrong." }],
    details: { a: 1 },
    retryAfterSeconds: 42,
  });
});

test("an error with one field error lists it like several", async () => {
  expect(await refusal("/one")).toMatchObject({ status: 409, fieldErrors: [{ param: "name", message: "Taken." }] });
});

test("a response that is no JSON still becomes an ApiError", async () => {
  const error = await refusal("/html");
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status: 502, code: "http_502", requestId: null });
});

test("a missing response differs from an error response", async () => {
  const gone = Bun.serve({ port: 0, fetch: () => new Response() });
  const { url } = gone;
  await gone.stop(true);
  expect(await get(url.href).catch((error: unknown) => error)).toMatchObject({ status: 0, code: "unreachable" });
});

test("addresses are escaped, and unset values are omitted", () => {
  expect(resourceUrl({ projectId: "proj_1", mode: "test" }, "/runs")).toBe("/console/api/proj_1/test/runs");
  expect(query({ limit: 20, status: undefined, q: "a&b" })).toBe("?limit=20&q=a%26b");
  expect(query({ status: undefined })).toBe("");
});
