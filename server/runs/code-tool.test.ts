import { expect, test } from "bun:test";
import type { ScriptEntry } from "../domain/model-call.ts";
import { type Client, testApp } from "../testing/test-app.ts";

// Code tools through the whole server: input files, results and output files.

async function agentWith(client: Client, tool: object, script: ScriptEntry[]): Promise<string> {
  const { status, body } = await client.post("/v1/tools", { name: "sum", type: "code", ...tool });
  expect({ status, body }).toMatchObject({ status: 201 });
  const agent = { name: "Clerk", instructions: "Add.", model: "test/script", model_settings: { script } };
  return (await client.post("/v1/agents", { ...agent, tools: [body.id] })).body.id;
}

const upload = async (client: Client, filename: string, text: string): Promise<string> =>
  (await client.post("/v1/files", { filename, text, purpose: "code_interpreter" })).body.id;

const ran = async (client: Client, agent_id: string, more: object = {}) =>
  (await client.post("/v1/runs?wait=60", { agent_id, input: "Go", ...more })).body;

const calls = (args: Record<string, unknown>): ScriptEntry[] => [
  { tool_calls: [{ name: "sum", arguments: args }] },
  { text: "Done." },
];

test("a tool's own function receives its arguments and files, and its return value and output files are the result", async () => {
  await using server = testApp();
  const client = await server.client();
  const own = await upload(client, "prices.csv", "1\n2\n3\n");
  const given = await upload(client, "more.csv", "10\n");
  const source = `({ factor }) => {
    const all = input.names().sort().flatMap((name) => input.text(name).trim().split("\\n").map(Number));
    output.write("total.txt", "The total is " + all.reduce((a, b) => a + b));
    console.log("read", all.length);
    return all.reduce((a, b) => a + b) * factor;
  }`;
  const parameters = { type: "object", properties: { factor: { type: "number" } } };
  const agent = await agentWith(client, { source, parameters, files: [own] }, calls({ factor: 2 }));
  const run = await ran(client, agent, { file_ids: [given] });
  const [call] = run.tool_calls;
  expect(call).toMatchObject({ status: "completed", output: { result: 32, stdout: "read 4\n" } });
  const [file] = call.files;
  expect(call.output.files).toEqual([{ id: file.id, filename: "total.txt", bytes: 15 }]);
  expect((await client.get(`/v1/files/${file.id}`)).body).toMatchObject({
    purpose: "output",
    filename: "total.txt",
    run_id: run.id,
    tool_call_id: call.id,
  });
  expect((await client.get(`/v1/files/${file.id}/content`)).body).toBe("The total is 16");
  const { steps } = (await client.get(`/v1/traces/${run.id}`)).body;
  expect(steps[1].files).toMatchObject([{ id: file.id }]);
});

test("code written by the model runs the same, and the model reads its errors", async () => {
  await using server = testApp();
  const client = await server.client();
  const good = await agentWith(client, {}, calls({ code: "[1, 2, 3].map((n) => n * n)" }));
  expect((await ran(client, good)).tool_calls[0].output.result).toEqual([1, 4, 9]);
  await client.delete(`/v1/tools/${(await client.get("/v1/tools")).body.data[0].id}`);
  const bad = await agentWith(client, {}, calls({ code: "print('so far'); nobody()" }));
  const [call] = (await ran(client, bad)).tool_calls;
  expect(call).toMatchObject({ status: "failed", error: { code: "code_error" } });
  expect(call.error.message).toContain("nobody");
  expect(call.error.message).toContain("so far");
});

test("an output above the tool's limit is stored whole as a file, and the model reads its head and tail", async () => {
  await using server = testApp();
  const client = await server.client();
  const agent = await agentWith(client, { max_output_bytes: 200 }, calls({ code: "'x'.repeat(5000)" }));
  const [call] = (await ran(client, agent)).tool_calls;
  expect(call.files).toHaveLength(1);
  expect(call.output).toContain(call.files[0].id);
  expect(call.output.length).toBeLessThan(400);
  expect((await client.get(`/v1/files/${call.files[0].id}/content`)).body).toMatchObject({ result: "x".repeat(5000) });
});

test("a tool is tested outside of any run, and its output files belong to no run", async () => {
  await using server = testApp();
  const client = await server.client();
  const { body: tool } = await client.post("/v1/tools", { name: "sum", type: "code" });
  const code = "output.write('a.txt', 'hello'); 42";
  const { status, body } = await client.post(`/v1/tools/${tool.id}/test`, { arguments: { code } });
  expect([status, body.output.result, body.error]).toEqual([200, 42, null]);
  expect((await client.get(`/v1/files/${body.files[0].id}`)).body).toMatchObject({ run_id: null, purpose: "output" });
});

test("a file deleted before the call causes an error that names it", async () => {
  await using server = testApp();
  const client = await server.client();
  const file = await upload(client, "gone.csv", "1");
  const agent = await agentWith(client, { files: [file] }, calls({ code: "1" }));
  await client.delete(`/v1/files/${file}`);
  const [call] = (await ran(client, agent)).tool_calls;
  expect(call.error).toMatchObject({ code: "file_not_found", message: expect.stringContaining(file) });
});

test("a run may only name files that exist", async () => {
  await using server = testApp();
  const client = await server.client();
  const other = await (await server.client({ project: "other" })).post("/v1/files", {
    filename: "a",
    text: "a",
    purpose: "attachment",
  });
  const agent = await agentWith(client, {}, []);
  const { status, body } = await client.post("/v1/runs", { agent_id: agent, input: "Go", file_ids: [other.body.id] });
  expect([status, body.error.param]).toEqual([400, "file_ids[0]"]);
});
