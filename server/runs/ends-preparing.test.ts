import { expect, test } from "bun:test";
import type { JournalEntry } from "../domain/run-event.ts";
import { Journal } from "../storage/journal/journal.ts";
import { wordEmbedders } from "../testing/embedder.ts";
import type { Answer } from "../testing/expect-declared.ts";
import { startChatServer } from "../testing/model-server.ts";
import { testActor } from "../testing/test-actor.ts";
import { type TestApp, testApp } from "../testing/test-app.ts";
import { createRunProjection } from "./run-projection.ts";

// Runs that end, or whose server stops, before their model is asked for an answer: while they prepare its prompt.

const made = ({ status, body }: Answer) => {
  expect([status, body.error ?? null]).toEqual([201, null]);
  return body;
};
const typesOf = ({ db }: TestApp, id: string): string[] =>
  new Journal({ db, project: createRunProjection(db.sqlite), wake() {}, now: Date.now })
    .read(id)
    .map(({ event }: JournalEntry) => event.type);

test("a run is cancelled at once during a memory search, and the late results are stored nowhere", async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const words = wordEmbedders();
  const embedders: typeof words = {
    ...words,
    of: (model, dimensions) => ({
      async embed(texts, signal) {
        if (texts.includes("How?")) {
          asked.resolve();
          await answer.promise;
        }
        return words.of(model, dimensions).embed(texts, signal);
      },
    }),
  };
  await using server = testApp({ embedders });
  await server.recover();
  const client = await server.client();
  const { id: memory_id } = made(await client.post("/v1/memory", { name: "Manuals", kind: "vector" }));
  made(await client.post(`/v1/memory/${memory_id}/entries`, { text: "How to do it." }));
  const body = { name: "A", instructions: "I.", model: "test/echo", memory: { stores: [{ memory_id }] } };
  const { id: agent_id } = made(await client.post("/v1/agents", body));
  const { id } = made(await client.post("/v1/runs", { agent_id, input: "How?" }));
  await asked.promise;
  const cancelled = await client.post(`/v1/runs/${id}/cancel`, {});
  expect(cancelled).toMatchObject({ status: 200, body: { status: "cancelled", usage: { model_calls: 0 } } });
  const before = typesOf(server, id);
  expect(before).toEqual(["run.created", "step.started", "step.completed", "run.cancelled"]);
  answer.resolve();
  expect((await client.post("/v1/runs?wait=60", { agent_id, input: "And now?" })).body.status).toBe("completed");
  expect(typesOf(server, id)).toEqual(before);
  const [step] = (await client.get(`/v1/traces/${id}`)).body.steps;
  expect(step).toMatchObject({ type: "retrieval", status: "cancelled" });
});

test("a run is cancelled at once while its model writes a summary, and the request is aborted", async () => {
  const asked = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  await using model = startChatServer(async ({ messages }, _, gone) => {
    const usage = { prompt_tokens: 10, completion_tokens: 1 };
    if (!messages[0]!.content.startsWith("You shorten")) return { text: "I see.", ...usage };
    gone.addEventListener("abort", () => left.resolve());
    asked.resolve();
    await left.promise;
    return { text: "They talked.", ...usage };
  });
  await using server = testApp({ environment: model.environment });
  await server.recover();
  const client = await server.client();
  const name = "openai_compatible/stub/gpt";
  const price = { input: 0, cached_input: 0, output: 0, context_window: 2500 };
  await server.prices.set(name, price, testActor);
  const memory = { history: { mode: "thread" }, context: { reserve_output_tokens: 100 } };
  const { id: agent_id } = made(
    await client.post("/v1/agents", { name: "A", instructions: "I.", model: name, memory }),
  );
  const { id: thread_id } = made(await client.post("/v1/threads", {}));
  const say = (input: string, wait = 60) =>
    client.post(`/v1/runs?wait=${wait}`, { agent_id, thread_id, input }).then(made);
  const long = "It rained. ".repeat(400);
  expect((await say(long)).status).toBe("completed");
  const { id } = await say(long, 0);
  await asked.promise;
  const cancelled = await client.post(`/v1/runs/${id}/cancel`, {});
  expect(cancelled).toMatchObject({ status: 200, body: { status: "cancelled" } });
  await left.promise;
  expect(typesOf(server, id)).toEqual([
    "run.created",
    "history.loaded",
    "step.started",
    "step.completed",
    "run.cancelled",
  ]);
  const [step] = (await client.get(`/v1/traces/${id}`)).body.steps;
  expect(step).toMatchObject({ type: "compaction", status: "cancelled" });
  expect((await client.get(`/v1/threads/${thread_id}`)).body.status).toBe("idle");
});

test("a server that stops during a memory search leaves the run to the next one", async () => {
  const asked = Promise.withResolvers<void>();
  const over = Promise.withResolvers<never>();
  const words = wordEmbedders();
  const of: typeof words.of = (model, dimensions) => ({
    embed(texts, signal) {
      if (!texts.includes("How?")) return words.of(model, dimensions).embed(texts, signal);
      asked.resolve();
      return over.promise;
    },
  });
  const stop = () => over.reject(new Error("It has stopped."));
  await using server = testApp({ embedders: { ...words, of, stop } });
  await server.recover();
  const client = await server.client();
  const { id: memory_id } = made(await client.post("/v1/memory", { name: "Manuals", kind: "vector" }));
  const body = { name: "A", instructions: "I.", model: "test/echo", memory: { stores: [{ memory_id }] } };
  const { id: agent_id } = made(await client.post("/v1/agents", body));
  const { id } = made(await client.post("/v1/runs", { agent_id, input: "How?" }));
  await asked.promise;
  await server.stop();
  expect(typesOf(server, id)).toEqual(["run.created", "step.started"]);
});
