import { expect, test } from "bun:test";
import { converse } from "../../testing/model-conversation.ts";
import { addressesOf } from "./chat-address.ts";
import type { Connection } from "./model.ts";
import { openModel } from "./registry.ts";

const chat = "/chat/completions";

test.each([
  ["http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1/chat/completions", "http://127.0.0.1:8080/chat/completions"],
  ["http://127.0.0.1:8080", "http://127.0.0.1:8080/chat/completions", "http://127.0.0.1:8080/v1/chat/completions"],
  ["https://gw.example/api/", "https://gw.example/api/chat/completions", "https://gw.example/api/v1/chat/completions"],
  ["https://gw.example/v1/chat/completions", "https://gw.example/v1/chat/completions", null],
  [
    "https://gw.example/v1?team=a",
    "https://gw.example/v1/chat/completions?team=a",
    "https://gw.example/chat/completions?team=a",
  ],
])("%s leads to %s", (base_url, first, other) => {
  expect(addressesOf(base_url, chat, { address: "plain" }, "m")).toEqual({ first, other });
});

const azure = "https://shop.openai.azure.com";
test.each([
  ["", "/openai/v1/chat/completions"],
  ["/", "/openai/v1/chat/completions"],
  ["/openai", "/openai/v1/chat/completions"],
  ["/openai/v1", "/openai/v1/chat/completions"],
  ["/openai/v1/?api-version=preview", "/openai/v1/chat/completions?api-version=preview"],
  ["?api-version=2024-10-21", "/openai/deployments/gpt%205/chat/completions?api-version=2024-10-21"],
  ["/openai?api-version=2024-10-21", "/openai/deployments/gpt%205/chat/completions?api-version=2024-10-21"],
  ["/openai/deployments/own?api-version=2024-10-21", "/openai/deployments/own/chat/completions?api-version=2024-10-21"],
  [
    "/openai/deployments/own/chat/completions?api-version=2024-10-21",
    "/openai/deployments/own/chat/completions?api-version=2024-10-21",
  ],
])("Azure's %s leads to %s", (base_url, first) => {
  const found = addressesOf(`${azure}${base_url}`, chat, { address: "azure" }, "gpt 5");
  expect(found).toEqual({ first: `${azure}${first}`, other: null });
});

const request = { messages: [{ role: "user" as const, content: "Hi." }], tools: [], settings: {} };
const chunk = { choices: [{ index: 0, delta: { content: "Hello." }, finish_reason: "stop" }] };
const hello = () =>
  new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, {
    headers: { "content-type": "text/event-stream" },
  });

/** Starts a server that has only this path, and returns the paths that were asked for. */
function startServer(path: string, answer: () => Response = hello) {
  const asked: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(incoming) {
      const { pathname, search } = new URL(incoming.url);
      asked.push(`${pathname}${search} ${incoming.headers.get("api-key") ?? incoming.headers.get("authorization")}`);
      return pathname === path ? answer() : Response.json({ detail: "Not Found" }, { status: 404 });
    },
  });
  return { asked, url: `http://127.0.0.1:${server.port}`, [Symbol.asyncDispose]: () => server.stop(true) };
}

const open = (provider: Connection["provider"], base_url: string) =>
  openModel({ name: "stub", provider, base_url, api_key: "k" }, "m");

test("an address without /v1 is tried with it, once", async () => {
  await using server = startServer("/v1/chat/completions");
  const model = await open("openai_compatible", server.url);
  for (let i = 0; i < 2; i++) expect((await converse(model, request)).text).toBe("Hello.");
  const path = "/chat/completions Bearer k";
  expect(server.asked).toEqual([path, `/v1${path}`, `/v1${path}`]);
});

test("an address with /v1 too many is tried without it", async () => {
  await using server = startServer("/chat/completions");
  const model = await open("openai_compatible", `${server.url}/v1`);
  expect((await converse(model, request)).text).toBe("Hello.");
});

test("a model that a server does not have is asked for at both addresses once, and its own words are told", async () => {
  await using server = startServer("/none");
  const model = await open("openai_compatible", `${server.url}/v1`);
  for (let i = 0; i < 3; i++)
    expect((await converse(model, request)).error).toMatchObject({
      code: "model_not_available",
      message: "The provider does not have this model (HTTP 404): Not Found",
    });
  expect(server.asked).toHaveLength(4);
});

test("Azure gets its key in a header of its own, and the query of its address", async () => {
  await using server = startServer("/openai/deployments/m/chat/completions");
  const model = await open("azure", `${server.url}?api-version=2024-10-21`);
  expect((await converse(model, request)).text).toBe("Hello.");
  expect(server.asked).toEqual(["/openai/deployments/m/chat/completions?api-version=2024-10-21 k"]);
});

test("a gateway of OpenAI without the Responses API is asked in chat from its first 404 on", async () => {
  await using server = startServer("/v1/chat/completions");
  const model = await open("openai", `${server.url}/v1`);
  for (let i = 0; i < 2; i++) expect((await converse(model, request)).text).toBe("Hello.");
  expect(server.asked.map((each) => each.split(" ")[0])).toEqual([
    "/v1/responses",
    "/responses",
    "/v1/chat/completions",
    "/v1/chat/completions",
  ]);
});

test("OpenAI's own address is asked with its query, with or without /v1", async () => {
  const completed = { type: "response.completed", response: { id: "r", status: "completed", output: [] } };
  const answer = () =>
    new Response(`data: ${JSON.stringify(completed)}\n\n`, { headers: { "content-type": "text/event-stream" } });
  await using server = startServer("/v1/responses", answer);
  const model = await open("openai", `${server.url}?team=a`);
  for (let i = 0; i < 2; i++) await converse(model, request);
  expect(server.asked.slice(0, 2)).toEqual(["/responses?team=a Bearer k", "/v1/responses?team=a Bearer k"]);
  expect(server.asked.every((each) => each.includes("/responses?team=a"))).toBe(true);
});
