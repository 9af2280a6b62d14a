import { afterAll, beforeEach, expect, test } from "bun:test";
import { createPostOnce } from "./post-once.ts";

const keys: (string | null)[] = [];
const answers: number[] = [];
const server = Bun.serve({
  port: 0,
  fetch(request) {
    keys.push(request.headers.get("idempotency-key"));
    const status = answers.shift() ?? 200;
    const code = status === 409 ? "idempotency_in_progress" : "refused";
    return Response.json(status < 300 ? { id: "run_1" } : { error: { code, message: "No." } }, { status });
  },
});
afterAll(() => server.stop(true));
beforeEach(() => {
  keys.length = 0;
  answers.length = 0;
});

/** Number of distinct idempotency keys. */
const distinct = () => new Set(keys).size;
const url = server.url.href;

test("a retry after a lost response reuses the key", async () => {
  const postOnce = createPostOnce();
  answers.push(502, 409, 201);
  await postOnce(url, { a: 1 }).catch(() => {});
  await postOnce(url, { a: 1 }).catch(() => {});
  expect(await postOnce<object>(url, { a: 1 })).toEqual({ id: "run_1" });
  expect(keys[0]).toBeString();
  expect(distinct()).toBe(1);
});

test("a request after a response or an error gets a new key", async () => {
  const postOnce = createPostOnce();
  answers.push(422, 201, 201);
  for (let n = 0; n < 3; n++) await postOnce(url, { a: 1 }).catch(() => {});
  expect(distinct()).toBe(3);
});

test("another body or purpose has a key of its own", async () => {
  const postOnce = createPostOnce();
  answers.push(502, 502, 502);
  await postOnce(url, { a: 1 }, "run_1").catch(() => {});
  await postOnce(url, { a: 1 }, "run_2").catch(() => {});
  await postOnce(url, { a: 2 }, "run_1").catch(() => {});
  expect(distinct()).toBe(3);
});
