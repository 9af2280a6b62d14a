import { afterAll, describe, expect, test } from "bun:test";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { callAnswers } from "./__fixtures__/server-answers/calls.ts";
import type { ServerAnswer } from "./__fixtures__/server-answers/chunks.ts";
import { failureAnswers, usageAnswers } from "./__fixtures__/server-answers/failures.ts";
import { framingAnswers } from "./__fixtures__/server-answers/framing.ts";
import type { ModelEvent, ModelRequest } from "./model.ts";
import { openModel } from "./registry.ts";

interface Played extends ServerAnswer {
  /** Resolves when the caller has read the chunks. */
  isRead: Promise<void>;
}

const answers = new Map<string, Played>();
/** A model server on loopback: the path selects its answer. */
const server = createServer(async (incoming, outgoing) => {
  for await (const _ of incoming);
  const played = answers.get(incoming.url!.split("/")[1]!)!;
  const { status = 200, headers = { "content-type": "text/event-stream" }, chunks, breaks, isRead } = played;
  outgoing.writeHead(status, headers);
  if (breaks) {
    outgoing.write(chunks.join(""));
    await isRead;
    return outgoing.socket!.destroy();
  }
  for (const chunk of chunks) await new Promise<void>((resolve) => outgoing.write(chunk, () => resolve()));
  outgoing.end();
});
const listening = new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
afterAll(() => void server.close());

const tool = (name: string) => ({ name, description: "", parameters: { type: "object", properties: {} } });
const request: ModelRequest = {
  messages: [{ role: "user", content: "Hello" }],
  tools: ["look", "listen", "now", "num", "wipe"].map(tool),
  settings: {},
};

async function ask(answer: ServerAnswer): Promise<ModelEvent[]> {
  await listening;
  const path = crypto.randomUUID();
  const { promise, resolve } = Promise.withResolvers<void>();
  answers.set(path, { ...answer, isRead: promise });
  let reads = 0;
  // The first call reports the head of the response.
  const observer = { onByte: () => void (++reads > 1 && resolve()), onArguments() {} };
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${path}/v1`;
  const connection = { name: "stub", provider: "openai_compatible" as const, base_url, api_key: "sk-test-0123456789" };
  const model = await openModel(connection, "some-model");
  return Array.fromAsync(model.stream(request, new AbortController().signal, observer));
}

const textOf = (events: ModelEvent[], kind: "output" | "reasoning"): string =>
  events.map((event) => (event.type === "delta" && event.kind === kind ? event.text : "")).join("");

/** Compares an answer's events with its expected end. */
function expectEnd(events: ModelEvent[], { text, reasoning, calls = [], finish, usage, error }: ServerAnswer["end"]) {
  const last = structuredClone(events.at(-1)!); // The matchers write into the object that they compare.
  if (last.type !== "done" && last.type !== "error") throw new Error(`ended with ${last.type}`);
  if (error) {
    const { says, ...facts } = error;
    expect(last).toMatchObject({ type: "error", error: { ...facts, message: expect.stringContaining(says) } });
  } else expect(last.type === "error" ? last.error : null).toBeNull();
  if (finish !== undefined) expect(last).toMatchObject({ finish });
  if (usage !== undefined) expect(last.usage).toMatchObject(usage);
  if (text !== undefined) expect(textOf(events, "output")).toBe(text);
  if (reasoning !== undefined) expect(textOf(events, "reasoning")).toBe(reasoning);
  const called = events.flatMap((event) => (event.type === "tool_call" ? [[event.name, event.arguments]] : []));
  expect(called).toEqual(calls.map((call) => [...call]));
}

describe.each([
  ["tool calls", callAnswers],
  ["framing", framingAnswers],
  ["failures", failureAnswers],
  ["usage", usageAnswers],
])("%s", (_, list) => {
  test.each(list.map((answer) => [answer.title, answer] as const))("%s", async (_, answer) => {
    expectEnd(await ask(answer), answer.end);
  });
});
