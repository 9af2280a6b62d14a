import { afterAll, expect, test } from "bun:test";
import { type ChatAnswer, startChatServer } from "../../testing/model-server.ts";
import { settledRun } from "../../testing/settled-run.ts";
import { type Client, testApp } from "../../testing/test-app.ts";

// Documents in messages to a run that is under way: with a real reader in the jail, and a model that shows its prompt.

const model = startChatServer(({ messages }): ChatAnswer => {
  const answers = messages.filter(({ role }) => role === "assistant").length;
  const usage = { prompt_tokens: 10, completion_tokens: 1 };
  return answers === 0 ? { calls: ["look"], ...usage } : { text: "Seen.", ...usage };
});
afterAll(() => model[Symbol.asyncDispose]());

const textFile = (text: string, filename = `${text}.txt`) => ({
  type: "file",
  filename,
  data: `data:text/plain;base64,${Buffer.from(text).toString("base64")}`,
});

async function begin(more: object = {}) {
  const server = testApp({ environment: model.environment });
  await server.recover();
  const client = await server.client();
  const tool = await made(client, "/v1/tools", { name: "look", type: "client" });
  const agent = { name: "A", instructions: "I.", model: "openai_compatible/stub/gpt", tools: [tool.id], ...more };
  const { id: agent_id } = await made(client, "/v1/agents", agent);
  return { server, client, agent_id };
}
const made = async (client: Client, path: string, body: object) => {
  const { status, body: answer } = await client.post(path, body);
  expect([status, answer.error ?? null]).toEqual([201, null]);
  return answer;
};
const waiting = (client: Client, agent_id: string, more: object = {}) =>
  made(client, "/v1/runs?wait=60", { agent_id, input: "What is it?", ...more });
const steer = (client: Client, id: string, content: unknown) =>
  client.post(`/v1/runs/${id}/messages`, { role: "user", content });
// biome-ignore lint/suspicious/noExplicitAny: as the API's answers are read in all tests.
async function goOn(server: Parameters<typeof settledRun>[0], client: Client, run: any) {
  const [call] = run.required_action.submit_tool_outputs.tool_calls;
  const tool_outputs = [{ tool_call_id: call.tool_call_id, output: "ok" }];
  expect((await client.post(`/v1/runs/${run.id}/submit_tool_outputs`, { tool_outputs })).status).toBe(200);
  return settledRun(server, client, run.id);
}
const prompt = () => JSON.stringify(model.requests.at(-1)!.messages);

test("a message to a run brings documents, which are read as those of an input are, beside the earlier ones", async () => {
  const { server, client, agent_id } = await begin();
  await using _ = server;
  const input = [{ role: "user", content: [{ type: "text", text: "Read." }, textFile("apple")] }];
  const run = await waiting(client, agent_id, { input });
  const sent = await steer(client, run.id, [{ type: "text", text: "And this." }, textFile("banana", "b.txt")]);
  expect([sent.status, sent.body.error ?? null]).toEqual([200, null]);
  const done = await goOn(server, client, run);
  expect(done.status).toBe("completed");
  for (const word of ["apple", "banana", "And this."]) expect(prompt()).toContain(word);
  expect(prompt().split("=== File ")).toHaveLength(3);
  const message = done.messages.find(({ content }: { content: string }) => content === "And this.");
  expect(message.files).toMatchObject([{ filename: "b.txt", mime_type: "text/plain" }]);
});

test("a stored PDF is read in the jail for a message, and a later message with the same one reads nothing again", async () => {
  const { server, client, agent_id } = await begin();
  await using _ = server;
  const pdf = await Bun.file(`${import.meta.dir}/../../testing/sample-documents/groff-account.pdf`).bytes();
  const file = await made(client, "/v1/files", {
    filename: "p.pdf",
    purpose: "attachment",
    content_base64: pdf.toBase64(),
  });
  const run = await waiting(client, agent_id);
  for (const text of ["See.", "Again."])
    expect(
      (
        await steer(client, run.id, [
          { type: "text", text },
          { type: "file", file_id: file.id },
        ])
      ).status,
    ).toBe(200);
  expect((await goOn(server, client, run)).status).toBe("completed");
  const { data } = (await client.get(`/v1/runs/${run.id}/events?limit=100`)).body;
  const attached = data.filter(({ event }: { event: string }) => event === "documents.attached");
  expect(attached.map((each: { data: { documents: object[] } }) => each.data.documents.length)).toEqual([1]);
  expect(prompt().split("=== File ")).toHaveLength(2);
});

test("a guardrail reads the documents of a message before the model does, and a block ends the run", async () => {
  const guardrails = [{ type: "blocked_terms", on: ["input"], action: "block", config: { terms: ["swordfish"] } }];
  const { server, client, agent_id } = await begin({ guardrails });
  await using _ = server;
  const run = await waiting(client, agent_id);
  const asked = model.requests.length;
  expect((await steer(client, run.id, [textFile("The word is swordfish.", "a.txt")])).status).toBe(200);
  expect(await goOn(server, client, run)).toMatchObject({ status: "failed", error: { code: "guardrail_blocked" } });
  expect(model.requests).toHaveLength(asked);
});

test("a fork from before a message whose document was blocked goes on", async () => {
  const guardrails = [{ type: "blocked_terms", on: ["input"], action: "block", config: { terms: ["swordfish"] } }];
  const { server, client, agent_id } = await begin({ guardrails });
  await using _ = server;
  const run = await waiting(client, agent_id);
  await steer(client, run.id, [textFile("The word is swordfish.", "a.txt")]);
  expect((await goOn(server, client, run)).status).toBe("failed");
  const { body } = await client.post(`/v1/runs/${run.id}/fork`, { step_index: -1 });
  const forked = await settledRun(server, client, body.id);
  expect([forked.status, forked.error]).toEqual(["requires_action", null]);
  expect((await goOn(server, client, forked)).status).toBe("completed");
});

test("the rules of the agent that takes over read the documents of the run, too", async () => {
  const guardrails = [{ type: "blocked_terms", on: ["input"], action: "redact", config: { terms: ["swordfish"] } }];
  const { server, client } = await begin();
  await using _ = server;
  const next = { name: "next", instructions: "N.", model: "openai_compatible/stub/gpt", guardrails };
  const { id: next_id } = await made(client, "/v1/agents", { ...next, tools: [] });
  const { id: agent_id } = await made(client, "/v1/agents", {
    name: "first",
    instructions: "F.",
    model: "test/script",
    model_settings: { script: [{ tool_calls: [{ name: "transfer_to_next", arguments: {} }] }] },
    handoffs: [next_id],
  });
  const input = [
    { role: "user", content: [{ type: "text", text: "Read." }, textFile("The word is swordfish.", "a.txt")] },
  ];
  const asked = model.requests.length;
  await waiting(client, agent_id, { input });
  const sent = JSON.stringify(model.requests.slice(asked));
  expect(sent).toContain("The word is [removed].");
  expect(sent).not.toContain("swordfish");
});

test("a fork after the message has its documents, and one before it has not", async () => {
  const { server, client, agent_id } = await begin();
  await using _ = server;
  const run = await waiting(client, agent_id);
  await steer(client, run.id, [textFile("banana", "b.txt")]);
  const done = await goOn(server, client, run);
  const steps = (await client.get(`/v1/traces/${run.id}`)).body.steps;
  const last = steps.findLast(({ type }: { type: string }) => type === "model_call").step_index;
  const fork = async (step_index: number, more: object = {}) => {
    const { body } = await client.post(`/v1/runs/${run.id}/fork`, { step_index, ...more });
    expect(body.error ?? null).toBeNull();
    return settledRun(server, client, body.id);
  };
  expect(done.status).toBe("completed");
  await fork(last, { edits: { model_output: { content: "", tool_calls: [{ name: "look", arguments: {} }] } } }).then(
    (forked) => goOn(server, client, forked),
  );
  expect(prompt()).toContain("banana");
  await fork(-1);
  expect(prompt()).not.toContain("banana");
});
