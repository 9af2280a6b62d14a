import { afterAll, beforeAll, expect, test } from "bun:test";
import { createExampleRunner, pythonForExamples } from "./doc-examples.ts";
import { type Json, startRunnel } from "./harness.ts";

// The import script of the page about OpenAI's Assistants, run with nothing but the server.

const python = await pythonForExamples();
const testImport = test.skipIf(!python);
let server: Awaited<ReturnType<typeof startRunnel>>;
let runner: Awaited<ReturnType<typeof createExampleRunner>>;
beforeAll(async () => {
  server = await startRunnel();
  runner = await createExampleRunner(server, { python, node: null });
});
afterAll(async () => {
  runner[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

async function importing(objects: Json, ...flags: string[]) {
  const script = 'curl -sSO "$RUNNEL_URL/docs/files/import-openai-assistants.py"';
  const file = `cat > export.json <<'END'\n${JSON.stringify(objects)}\nEND`;
  return await runner.run(
    "bash",
    `${script}\n${file}\npython3 import-openai-assistants.py export.json ${flags.join(" ")}`,
  );
}

const list = async (path: string): Promise<Json[]> => (await server.get(`/v1/${path}`)).body.data;
const byOldId = async (kind: string, id: string): Promise<Json> => (await list(`${kind}?metadata[openai_id]=${id}`))[0];

const functionTool = (description: string) => ({
  type: "function",
  function: { name: "find_order", description, parameters: { type: "object", properties: {} } },
});
const assistant = (id: string, more: object = {}) => ({ object: "assistant", id, name: id, model: "gpt-4o", ...more });
const message = (thread_id: string, second: number, role: string, ...content: object[]) => ({
  object: "thread.message",
  id: `msg_${thread_id}_${second}`,
  created_at: second,
  thread_id,
  role,
  content,
});
const text = (value: string, ...annotations: object[]) => ({ type: "text", text: { value, annotations } });

testImport("assistants, threads and messages are there after an import, and once, however often it runs", async () => {
  const thread = { object: "thread", id: "thread_1", metadata: { customer: "ada" } };
  const newestFirst = [
    message("thread_1", 3, "user", text("Thank you."), { type: "image_file", image_file: { file_id: "file-1" } }),
    message("thread_1", 2, "assistant", text("On Tuesday.", { type: "file_citation" })),
    message("thread_1", 1, "user", text("Where is my order?")),
  ];
  const exported = [
    assistant("asst_1", { temperature: 0.2, tools: [functionTool("Finds an order."), { type: "code_interpreter" }] }),
    assistant("asst_2", { tools: [functionTool("Finds an order.")] }),
    assistant("asst_3", { tools: [functionTool("Finds something else.")], top_p: 0.5 }),
    { object: "list", data: newestFirst },
    thread,
    { object: "thread.run", id: "run_1" },
  ];
  const first = await importing(exported, "--model", "test/echo");
  expect(first).toMatchObject({ code: 0, stderr: "" });
  expect(first.stdout.split("Not carried over:\n")[1]?.trim().split("\n")).toEqual([
    "- 1 × thread.run",
    "- asst_3: top_p",
    "- asst_3: the name of the tool find_order, which another one has: it is find_order_2",
    "- thread_1: the citations of msg_thread_1_2",
    "- thread_1: image_file of msg_thread_1_3",
  ]);

  const again = await importing(exported, "--model", "test/echo");
  expect(again.stdout.split("\n\n")[0]).toBe("agents already there: 3\nthreads already there: 1");
  expect(await list("agents")).toHaveLength(3);
  expect((await list("tools")).map(({ name }) => name).sort()).toEqual([
    "code_interpreter",
    "find_order",
    "find_order_2",
  ]);
  expect(await byOldId("agents", "asst_1")).toMatchObject({
    name: "asst_1",
    model_settings: { temperature: 0.2 },
    memory: { history: { mode: "thread" } },
    tools_count: 2,
  });
  const { id, metadata } = await byOldId("threads", "thread_1");
  expect(metadata).toEqual({ customer: "ada", openai_id: "thread_1", openai_import: "complete" });
  expect((await list(`threads/${id}/messages?order=asc`)).map(({ role, content }) => [role, content])).toEqual([
    ["user", "Where is my order?"],
    ["assistant", "On Tuesday."],
    ["user", "Thank you."],
  ]);
});

testImport("a thread whose import broke off gets the messages that it lacks", async () => {
  const { body: begun } = await server.post("/v1/threads", {
    metadata: { openai_id: "thread_2", openai_import: "begun" },
  });
  await server.post(`/v1/threads/${begun.id}/messages`, { role: "user", content: "One" });
  const said = ["One", "Two", "Three"].map((value, at) =>
    message("thread_2", at, at === 1 ? "assistant" : "user", text(value)),
  );
  expect(await importing(said)).toMatchObject({ code: 0, stderr: "" });
  expect((await list(`threads/${begun.id}/messages?order=asc`)).map(({ content }) => content)).toEqual([
    "One",
    "Two",
    "Three",
  ]);
});

testImport("what the server refuses is named, and the rest is imported", async () => {
  const { code, stdout, stderr } = await importing([
    assistant("asst_4"),
    message("thread_3", 1, "user", text("Hello")),
  ]);
  expect(code).toBe(1);
  expect(stderr).toContain("asst_4: ");
  expect(stdout).toContain("threads created: 1");
});
