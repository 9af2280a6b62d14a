import { describe, expect, test } from "bun:test";
import { APIConnectionError, APIError, APITimeoutError, CertificateError, RunnelError } from "./errors.ts";
import { mayRetry, retryDelay, sleep } from "./retries.ts";

const refusal = (status: number, code = "any", headers = {}): APIError =>
  APIError.of(status, { error: { code, message: "No." } }, new Headers(headers));

test("a delay doubles from half a second to eight seconds, minus a quarter at most", () => {
  for (const [attempt, most] of [500, 1000, 2000, 4000, 8000, 8000].entries()) {
    const delays = Array.from({ length: 200 }, () => retryDelay(attempt));
    expect(Math.max(...delays)).toBeLessThanOrEqual(most);
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(most * 0.75);
  }
});

describe("Retry-After", () => {
  test("is awaited, as seconds or as a date", () => {
    expect(retryDelay(0, refusal(429, "rate_limited", { "retry-after": "7" }))).toBe(7000);
    const soon = new Date(Date.now() + 30_000).toUTCString();
    const delay = retryDelay(0, refusal(503, "shutting_down", { "retry-after": soon }));
    expect(delay).toBeGreaterThan(20_000);
    expect(delay).toBeLessThanOrEqual(30_000);
    expect(retryDelay(0, refusal(503, "any", { "retry-after": "Mon, 01 Jan 2024 00:00:00 GMT" }))).toBe(0);
    expect(retryDelay(0, refusal(503, "any", { "retry-after": "later" }))).toBeLessThanOrEqual(500);
  });

  test("of more than a minute is left to the caller", () => {
    expect(mayRetry(refusal(429, "rate_limited", { "retry-after": "60" }))).toBe(true);
    expect(mayRetry(refusal(429, "rate_limited", { "retry-after": "61" }))).toBe(false);
  });
});

test.each([
  ["a lost connection", new APIConnectionError("lost"), true],
  ["a late response", new APITimeoutError("late"), true],
  ["a certificate that is not trusted", new CertificateError("not trusted"), false],
  ["another fault of the client", new RunnelError("other"), false],
  ["a fault of the program", new Error("other"), false],
  ["500", refusal(500), true],
  ["507", refusal(507, "storage_full"), true],
  ["429", refusal(429), true],
  ["409 while the first is under way", refusal(409, "idempotency_in_progress"), true],
  ["409 of another kind", refusal(409, "thread_busy"), false],
  ["400", refusal(400), false],
  ["404", refusal(404), false],
])("%s: whether it is tried again", (_, error, wanted) => {
  expect(mayRetry(error)).toBe(wanted);
});

test("a pause rejects with its signal's reason", async () => {
  const abort = new AbortController();
  const pause = sleep(3_600_000, abort.signal);
  abort.abort(new Error("enough"));
  expect(pause).rejects.toThrow("enough");
  expect(sleep(3_600_000, abort.signal)).rejects.toThrow("enough");
});
