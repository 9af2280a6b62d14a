import { expect, test } from "bun:test";
import { pdfOf } from "../server/testing/documents.ts";
import { createAgent, createTool, stubConnection } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { startModelServer, wordsOf } from "./model-server.ts";

// Long conversations and files in the context of a model on loopback, whose window the operator set.

const model = (name: string) => `openai_compatible/stub/${name}`;

async function setWindow(server: Runnel, name: string, tokens: number): Promise<void> {
  const { code } = await server.command(
    "models",
    "prices",
    "set",
    model(name),
    "--input",
    "0",
    "--output",
    "0",
    "--context-window",
    `${tokens}`,
  );
  expect(code).toBe(0);
}

const context = (strategy: string) => ({
  memory: { stores: [], context: { strategy, reserve_output_tokens: 100, tool_output_max_bytes: 40_000 } },
});

/** Starts a run that calls a tool eleven times in a row, each time with a long output. */
async function longLoop(server: Runnel, strategy: string): Promise<Json> {
  const source = "() => 'x'.repeat(3000)";
  const tool = await createTool(server, { type: "code", language: "javascript", source });
  const agent_id = await createAgent(server, "until-12", { tools: [tool.id], ...context(strategy) });
  const run = await server.post("/v1/runs?wait=60", { agent_id, input: "Look everywhere." });
  return run.body;
}

const compactions = async (server: Runnel, id: string): Promise<Json[]> =>
  (await server.get(`/v1/runs/${id}/events?limit=100`)).body.data.filter(
    ({ event }: Json) => event === "context.compacted",
  );

test.each(["compact", "truncate", "fail"])(
  "a long tool loop fits into a small window by the strategy %s",
  async (strategy) => {
    await using stub = startModelServer();
    await using server = await startRunnel({ environment: stubConnection(stub.url) });
    await setWindow(server, "until-12", 6000);
    const run = await longLoop(server, strategy);
    const compacted = await compactions(server, run.id);
    if (strategy === "fail") {
      expect(run).toMatchObject({ status: "failed", error: { code: "context_length_exceeded" } });
      expect(compacted).toEqual([]);
      return;
    }
    expect(compacted.length).toBeGreaterThan(0);
    expect(compacted[0].data).toMatchObject({ strategy });
    expect(run.status).toBe("completed");
    for (const { messages } of stub.requests) expect(JSON.stringify(messages).length).toBeLessThan(3 * 6000);
  },
);

test.each([
  ["after_effect.model_call", 2],
  ["before_effect.model_call:2", 1],
  ["after_effect.model_call:2", 1],
])(
  "a thread that is too long has one recorded summary when the process dies at %s, and its model is called %d times",
  async (point, count) => {
    await using stub = startModelServer();
    await using server = await startRunnel({ environment: stubConnection(stub.url) });
    await setWindow(server, "words-5-0", 2500);
    const memory = { history: { mode: "thread" }, context: { reserve_output_tokens: 100 } };
    const agent_id = await createAgent(server, "words-5-0", { memory });
    const { body: thread } = await server.post("/v1/threads", {});
    const body = { agent_id, thread_id: thread.id, input: "It rained. ".repeat(400) };
    expect((await server.post("/v1/runs?wait=60", body)).body.status).toBe("completed");
    await server.stop();
    await server.restart({ ...stubConnection(stub.url), RUNNEL_FAILPOINT: point });
    const begun = server.post("/v1/runs", body).catch(() => {}); // The response may be lost.
    await server.died();
    await begun;
    await server.restart(stubConnection(stub.url));
    const [started] = (await server.get("/v1/runs?limit=1")).body.data;
    await using stream = await server.stream(`/v1/runs/${started.id}/events`);
    await stream.rest();
    const { body: run } = await server.get(`/v1/runs/${started.id}`);
    expect(run).toMatchObject({ status: "completed", attempt: 2, output: wordsOf(5) });
    expect(await compactions(server, run.id)).toHaveLength(1);
    const summaries = stub.requests.filter(({ messages }) => messages[0].content.startsWith("You shorten"));
    expect(summaries).toHaveLength(count);
    const { messages } = stub.requests.at(-1)!;
    expect(messages.map(({ role }) => role)).toEqual(["system", "user", "user"]);
    expect(messages[1].content).toContain(`> ${wordsOf(5)}`);
  },
);

test("a PDF of a run is read in the sandbox, and the model gets its text page by page", async () => {
  await using stub = startModelServer();
  await using server = await startRunnel({ environment: stubConnection(stub.url) });
  const agent_id = await createAgent(server, "words-3-0");
  const form = new FormData();
  form.append("file", new File([pdfOf(["# One\nThe first page.", "# Two\nThe second page."])], "pages.pdf"));
  form.append("purpose", "attachment");
  const file = (await (await server.fetch("/v1/files", { method: "POST", body: form })).json()) as Json;
  // Created before the file is read: the run waits for it.
  const run = await server.post("/v1/runs?wait=60", { agent_id, input: "What is in it?", file_ids: [file.id] });
  expect(run.body).toMatchObject({ status: "completed", file_ids: [file.id] });
  const { content } = stub.requests[0]!.messages.at(-2);
  const text = "# One\n\nThe first page.\n\n# Two\n\nThe second page.";
  expect(content).toContain(
    `=== File ${file.id} "pages.pdf" (application/pdf) ===\n${text}\n=== End of ${file.id} ===`,
  );
});

test("a run's text and image are in its prompt, in the provider's image format", async () => {
  await using stub = startModelServer();
  await using server = await startRunnel({ environment: stubConnection(stub.url) });
  const agent_id = await createAgent(server, "words-3-0");
  const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const image = await server.post("/v1/files", { filename: "dot.png", purpose: "attachment", content_base64: png });
  const note = await server.post("/v1/files", {
    filename: "note.md",
    purpose: "attachment",
    text: "The word is plum.",
  });
  expect([image.status, note.status]).toEqual([201, 201]);
  const run = await server.post("/v1/runs?wait=60", {
    agent_id,
    input: "What is it?",
    file_ids: [image.body.id, note.body.id],
  });
  expect(run.body).toMatchObject({ status: "completed" });
  const { messages } = stub.requests[0]!;
  const files = messages.at(-2).content;
  expect(files[0].text).toContain("The word is plum.");
  expect(files[1]).toEqual({ type: "image_url", image_url: { url: `data:image/png;base64,${png}` } });
  expect(messages.at(-1)).toEqual({ role: "user", content: "What is it?" });
});
