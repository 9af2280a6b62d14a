import { afterAll, beforeAll, expect, test } from "bun:test";
import { newId } from "../../domain/ids.ts";
import { limits } from "../../domain/limits.ts";
import type { Answer } from "../../testing/expect-declared.ts";
import { type Client, testApp } from "../../testing/test-app.ts";
import { startWebhookReceiver } from "../../testing/webhook-receiver.ts";

const server = testApp();
let client: Client;
beforeAll(async () => {
  await server.recover();
  client = await server.client();
  const limits = { writes_per_minute: 1e6, run_creations_per_minute: 1e6 };
  await server.projects.update(client.scope.project_id, { limits });
});
afterAll(() => server[Symbol.asyncDispose]());

type Json = Answer["body"];
const made = ({ status, body }: Answer): Json => {
  expect([status, body.error ?? null]).toEqual([201, null]);
  return body;
};
const unique = () => `user ${newId("run")}`;
const nothing = { add: [], replace: [], forget: [] };

const newStore = async (by = client): Promise<string> =>
  made(await by.post("/v1/memory", { name: "facts", kind: "vector", scope: "user" })).id;

/** First answer of an agent, and the facts it then finds: the first is no valid JSON of that form. */
const script = (found: object | string, said = "Hello.") => [
  { text: said },
  typeof found === "string" ? { error: found } : { text: JSON.stringify(found) },
];

const newAgent = async (memory_id: string, found: object | string, by = client, more: object = {}): Promise<string> =>
  made(
    await by.post("/v1/agents", {
      name: "a",
      instructions: "Chat.",
      model: "test/script",
      model_settings: { script: script(found) },
      memory: { stores: [{ memory_id, learn: true }] },
      ...more,
    }),
  ).id;

const run = async (agent_id: string, user_id: string, input = "Hi.", by = client): Promise<Json> =>
  made(await by.post("/v1/runs?wait=60", { agent_id, user_id, input }));

/** The run that learned from this one, once it is over. */
async function learned(from: string, by = client): Promise<Json> {
  for (;;) {
    const { body } = await by.get(`/v1/runs?metadata[learns_from]=${from}&include=messages`);
    const [found] = body.data;
    if (found && !["queued", "in_progress"].includes(found.status)) return found;
    await server.db.write(() => {});
  }
}

const factsOf = async (memory_id: string, userId: string, by = client): Promise<Json[]> =>
  (await by.get(`/v1/memory/${memory_id}/entries?order=asc&limit=100&scope_id=${encodeURIComponent(userId)}`)).body
    .data;
const textsOf = async (memory_id: string, userId: string, by = client): Promise<string[]> =>
  (await factsOf(memory_id, userId, by)).map(({ text }) => text).sort();

test("facts about a user are learned from a run, with their source run, and shown to the next", async () => {
  const [store, user] = [await newStore(), unique()];
  const agent = await newAgent(store, { ...nothing, add: ["Lives in Oslo.", "Has a dog named Pluto."] });
  const first = await run(agent, user, "I moved to Oslo with my dog Pluto.");
  expect(first).toMatchObject({ status: "completed", output: "Hello." });
  const learning = await learned(first.id);
  expect(learning).toMatchObject({ status: "completed", user_id: user, agent_id: agent, thread_id: null });
  expect(JSON.parse(learning.input).conversation[0].content).toBe("I moved to Oslo with my dog Pluto.");
  expect(learning.usage.output_tokens).toBeGreaterThan(0);
  expect(await factsOf(store, user)).toMatchObject([
    { text: "Lives in Oslo.", metadata: { run_id: first.id } },
    { text: "Has a dog named Pluto.", metadata: { run_id: first.id } },
  ]);
  await server.memory.indexer.idle?.();
  const next = await run(agent, user, "What is my dog called? Pluto?");
  const { body: trace } = await client.get(`/v1/traces/${next.id}`);
  expect(JSON.stringify(trace.steps)).toContain("Has a dog named Pluto.");
  expect(await textsOf(store, unique())).toEqual([]);
});

test("later runs replace and remove facts, and those of other users stay", async () => {
  const [store, user, other] = [await newStore(), unique(), unique()];
  const add = ["Lives in Oslo.", "Has a dog.", "Is a nurse."];
  const agent = await newAgent(store, { ...nothing, add });
  for (const each of [user, other]) await learned((await run(agent, each)).id);
  const found = { add: ["Likes tea."], replace: [{ fact: 1, text: "Lives in Bergen." }], forget: [2] };
  await client.patch(`/v1/agents/${agent}`, { model_settings: { script: script(found) } });
  await learned((await run(agent, user)).id);
  expect(await textsOf(store, user)).toEqual(["Is a nurse.", "Likes tea.", "Lives in Bergen."]);
  expect(await textsOf(store, other)).toEqual(add.toSorted());
});

test("the next run sees facts that a person wrote, and none that they deleted", async () => {
  const [store, user] = [await newStore(), unique()];
  const agent = await newAgent(store, { ...nothing, add: ["Lives in Oslo."] });
  await learned((await run(agent, user)).id);
  const [fact] = await factsOf(store, user);
  await client.delete(`/v1/memory/${store}/entries/${fact.id}`);
  made(await client.post(`/v1/memory/${store}/entries`, { text: "Lives in Rome.", scope_id: user }));
  const learning = await learned((await run(agent, user)).id);
  expect(JSON.parse(learning.input).known).toEqual([{ fact: 1, text: "Lives in Rome." }]);
});

test("a run is neither delayed nor failed because learning from it fails", async () => {
  const [store, user] = [await newStore(), unique()];
  const agent = await newAgent(store, "The model is out of order.");
  const first = await run(agent, user);
  expect(first.status).toBe("completed");
  expect(await learned(first.id)).toMatchObject({ status: "failed" });
  expect(await textsOf(store, user)).toEqual([]);
  expect((await client.get(`/v1/runs/${first.id}`)).body.status).toBe("completed");
  // A failure does not prevent learning from the next run.
  await client.patch(`/v1/agents/${agent}`, { model_settings: { script: script({ ...nothing, add: ["Sings."] }) } });
  await learned((await run(agent, user)).id);
  expect(await textsOf(store, user)).toEqual(["Sings."]);
});

test("learning stays within the agent's budget, and counts in its usage", async () => {
  const [store, user] = [await newStore(), unique()];
  const found = { ...nothing, add: ["Sings."] };
  const spent = async () => {
    const { body } = await client.get("/v1/usage?group_by=agent");
    return (id: string) => body.data.find(({ agent_id }: Json) => agent_id === id)?.runs.completed;
  };
  const free = await newAgent(store, found);
  expect((await learned((await run(free, user)).id)).status).toBe("completed");
  expect((await spent())(free)).toBe(2);
  // More than a greeting costs, and less than the extraction.
  const bound = await newAgent(store, found, client, { budget: { max_total_tokens: 450 } });
  const first = await run(bound, unique());
  expect(first.status).toBe("completed");
  expect(await learned(first.id)).toMatchObject({ status: "failed", error: { code: "budget_exceeded" } });
  expect(await textsOf(store, first.user_id)).toEqual([]);
});

test("nothing is learned from failed, replayed or forked runs, or for agents that do not learn", async () => {
  const [store, user] = [await newStore(), unique()];
  const silent = await newAgent(store, { ...nothing, add: ["No."] }, client, {
    memory: { stores: [{ memory_id: store }] },
  });
  const failing = await newAgent(store, nothing, client, { model_settings: { script: [{ error: "No." }] } });
  const agent = await newAgent(store, { ...nothing, add: ["Yes."] });
  await run(silent, user);
  expect((await client.post("/v1/runs?wait=60", { agent_id: failing, user_id: user, input: "Hi." })).body.status).toBe(
    "failed",
  );
  const first = await run(agent, user);
  await learned(first.id);
  made(await client.post(`/v1/runs/${first.id}/replay`, {}));
  made(await client.post(`/v1/runs/${first.id}/fork?wait=60`, { step_index: -1 }));
  const last = await run(agent, user);
  await learned(last.id);
  const { body } = await client.get(`/v1/runs?user_id=${encodeURIComponent(user)}&limit=100`);
  const sources = body.data.flatMap(({ metadata }: Json) => metadata.learns_from ?? []).sort();
  expect(sources).toEqual([first.id, last.id].sort());
});

test("runs of one user are processed one after the other, so that no fact is stored twice", async () => {
  const [store, user] = [await newStore(), unique()];
  const agent = await newAgent(store, { ...nothing, add: ["Lives in Oslo."] });
  const runs = await Promise.all(Array.from({ length: 4 }, () => run(agent, user)));
  const learnings = await Promise.all(runs.map(({ id }) => learned(id)));
  expect(await textsOf(store, user)).toEqual(["Lives in Oslo."]);
  const spans = learnings.map(({ created_at, completed_at }) => [created_at, completed_at]).sort();
  for (const [index, [from]] of spans.entries()) if (index > 0) expect(from >= spans[index - 1]![1]!).toBe(true);
});

test("webhooks get no events of learning runs", async () => {
  await using receiver = startWebhookReceiver();
  const by = await server.client({ project: "heard" });
  made(await by.post("/v1/webhooks", { url: receiver.url, events: ["*"] }));
  const [store, user] = [await newStore(by), unique()];
  const agent = await newAgent(store, { ...nothing, add: ["Sings."] }, by);
  const first = await run(agent, user, "Hi.", by);
  const learning = await learned(first.id, by);
  await server.deliverWebhooks();
  expect(receiver.received.map(({ body }) => JSON.parse(body).run_id)).toContain(first.id);
  expect(receiver.received.map(({ body }) => JSON.parse(body).run_id)).not.toContain(learning.id);
});

test("an agent that would store facts outside a per-user store is refused", async () => {
  const keys = made(await client.post("/v1/memory", { name: "k", kind: "kv", scope: "user" })).id;
  const everybody = made(await client.post("/v1/memory", { name: "p", kind: "vector" })).id;
  const stores = [await newStore(), await newStore()];
  const refused = async (ids: string[]) => {
    const memory = { stores: ids.map((memory_id) => ({ memory_id, learn: true })) };
    const { status, body } = await client.post("/v1/agents", {
      name: "a",
      instructions: "",
      model: "test/echo",
      memory,
    });
    return [status, body.error?.errors?.[0]?.param ?? body.error?.param];
  };
  expect(await refused([keys])).toEqual([400, "memory.stores[0].learn"]);
  expect(await refused([everybody])).toEqual([400, "memory.stores[0].learn"]);
  expect(await refused(stores)).toEqual([400, "memory.stores[1].learn"]);
});

test("at the limit of facts per user, no more are stored", async () => {
  const [store, user] = [await newStore(), unique()];
  const { write } = server.db;
  const full = Array.from({ length: limits.facts_per_user - 1 }, (_, index) => `Fact ${index}.`);
  await write(() =>
    server.memory.entries.changeFacts(client.scope, store, user, { gone: [], fresh: full, metadata: {} }),
  );
  const agent = await newAgent(store, { ...nothing, add: ["One more.", "And one too many."] });
  await learned((await run(agent, user)).id);
  const have = server.memory.entries.factsOf(client.scope, store, user, 1000).map(({ text }) => text);
  expect(have).toHaveLength(limits.facts_per_user);
  expect(have.at(-1)).toBe("One more.");
});

test("a user's facts, and the runs that learned them, are deleted with the user", async () => {
  const [store, user] = [await newStore(), unique()];
  const agent = await newAgent(store, { ...nothing, add: ["Sings."] });
  await learned((await run(agent, user)).id);
  const { body } = await client.delete(`/v1/users/${encodeURIComponent(user)}/data?wait=60`);
  expect(body.deleted).toMatchObject({ runs: 2, memory_entries: 1 });
  expect(server.memory.entries.factsOf(client.scope, store, user, 10)).toEqual([]);
});
