import { expect, test } from "bun:test";
import { APICallError } from "@ai-sdk/provider";
import { toModelError } from "./model-error.ts";

function answered(statusCode: number, body: unknown, responseHeaders: Record<string, string> = {}) {
  const responseBody = typeof body === "string" ? body : JSON.stringify(body);
  const rest = { responseBody, responseHeaders, requestBodyValues: {}, message: "Bad Request" };
  return new APICallError({ statusCode, url: "https://api.example.com", ...rest });
}

const said = (message: string, more = {}) => ({ error: { message, ...more } });
const judge = (failure: unknown): unknown[] => {
  const { code, retryable } = toModelError(failure, []);
  return [code, retryable];
};

test.each([
  ["OpenAI", 400, said("Too long.", { code: "context_length_exceeded" })],
  ["OpenAI chat, vLLM", 400, said("This model's maximum context length is 8192 tokens.")],
  ["Anthropic", 400, said("prompt is too long: 210000 tokens > 200000 maximum")],
  [
    "Anthropic with max_tokens",
    400,
    said("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"),
  ],
  ["Google", 400, said("The input token count (9) exceeds the maximum number of tokens allowed (8).")],
  ["llama.cpp", 400, said("Too long.", { type: "exceed_context_size_error" })],
  ["llama.cpp, older", 500, said("the request exceeds the available context size")],
  ["Ollama", 400, { error: "the input length exceeds the context length" }],
  ["Groq", 413, said("Please reduce the length of the messages or completion.")],
  ["a bare sentence", 400, "This model's maximum context length is 4096 tokens."],
])("a conversation that is too long for %s is recognized", (_, status, body) => {
  expect(judge(answered(status, body))).toEqual(["context_length_exceeded", false]);
});

test.each([
  [400, "model_error", false],
  [401, "model_not_available", false],
  [403, "model_not_available", false],
  [404, "model_not_available", false],
  [408, "model_error", true],
  [409, "model_error", true],
  [422, "model_error", false],
  [429, "model_rate_limited", true],
  [500, "model_error", true],
  [502, "model_error", true],
  [503, "model_error", true],
  [529, "model_error", true],
])("HTTP %i is %s, retryable: %j", (status, code, retryable) => {
  expect(judge(answered(status, said("Something.")))).toEqual([code, retryable]);
});

// llama.cpp answers these with its own failure. A run asked four times, and left the model out for others.
test.each([
  "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
  'Failed to parse messages: Unsupported content part type: "image_url"',
  "Multimodal data provided, but model does not support multimodal requests.",
  "tools param requires --jinja flag",
])("a server's failure that says what it does not take is no outage: %s", (message) => {
  expect(judge(answered(500, said(message, { code: 500, type: "server_error" })))).toEqual(["model_error", false]);
});

test("an exhausted account is not retried", () => {
  expect(judge(answered(429, said("No credit.", { type: "insufficient_quota" })))).toEqual([
    "model_rate_limited",
    false,
  ]);
});

test("a limit of tokens per minute is a rate limit, even if its message mentions length", () => {
  expect(judge(answered(429, said("Please reduce the length of the messages.")))[0]).toBe("model_rate_limited");
});

test.each([
  [{ message: "Overloaded", type: "overloaded_error" }, "model_error", true],
  [{ message: "Slow down", type: "rate_limit_error" }, "model_rate_limited", true],
  [{ message: "Bad", type: "invalid_request_error" }, "model_error", false],
  [{ message: "Boom" }, "model_error", true],
  ["boom", "model_error", true],
  [undefined, "model_error", true],
  [new TypeError("x is not a function"), "model_error", true],
])("an error inside the stream is classified by its content: %j", (failure, code, retryable) => {
  expect(judge(failure)).toEqual([code, retryable]);
});

test("a network error is retried wherever it is nested", () => {
  const refused = Object.assign(new Error("no"), { code: "ECONNREFUSED" });
  const error = toModelError(new Error("outer", { cause: new Error("inner", { cause: refused }) }), []);
  expect(error).toMatchObject({ retryable: true, message: "The model's server cannot be reached." });
});

test("an error that is its own cause does not loop forever", () => {
  const error = new Error("loop");
  error.cause = error;
  expect(judge(error)).toEqual(["model_error", true]);
});

const now = Date.parse("2026-11-21T10:00:00Z");

test.each([
  [{ "retry-after": "3" }, 3000],
  [{ "retry-after": "0.5" }, 500],
  [{ "retry-after": "Sat, 21 Nov 2026 10:00:30 GMT" }, 30_000],
  [{ "retry-after": "Sat, 21 Nov 2026 09:00:00 GMT" }, 0],
  [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
  [{ "retry-after": "soon" }, null],
  [{ "retry-after": "-5000 x" }, null],
  [{}, null],
])("Retry-After %j is %j ms", (headers, ms) => {
  expect(toModelError(answered(429, said("Slow."), headers as Record<string, string>), [], now).retry_after_ms).toBe(
    ms as number,
  );
});

test("Google's delay is read from its body", () => {
  const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.5s" }];
  expect(toModelError(answered(429, said("Slow.", { details })), []).retry_after_ms).toBe(34_500);
});

test.each([
  ["the key itself", "bad key 0123456789", ["0123456789"]],
  ["a half starred key", "Incorrect API key sk-proj-********1234 provided", []],
  ["a bearer token", "got Authorization: Bearer abc.def.ghi", []],
  ["credentials of an address", "cannot reach https://user:hunter2@models.example.com/v1", []],
  ["a key in a query", "GET /v1beta/models?key=hunter2&alt=sse failed", []],
])("a message does not contain %s", (_, message, secrets) => {
  const shown = toModelError(answered(400, said(message)), secrets).message;
  expect(shown).toContain("[redacted]");
  expect(shown).not.toMatch(/0123456789|1234|abc\.def|hunter2/);
});

test("a message is one short line", () => {
  const { message } = toModelError(answered(400, said(`a\n\tb${"x".repeat(5000)}`)), []);
  expect(message).toContain("a bx");
  expect(message.length).toBeLessThan(520);
});

test("an HTML page is never shown", () => {
  expect(toModelError(answered(502, "<html>Bad gateway at host 10.0.0.3</html>"), []).message).not.toContain("html");
});
