import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { type ApiRequest, requestsCode } from "../dashboard/src/lib/request-code.ts";
import { startRuntimes } from "./client-runtimes.ts";
import { pythonForExamples } from "./doc-examples.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { installClient } from "./python-programs.ts";

// Code samples of the dashboard, run as shown.

let server: Runnel;
let caFile: string;
beforeAll(async () => {
  server = await startRunnel();
  caFile = join(server.folder, "it's ca.pem");
  await Bun.write(caFile, server.ca!);
});
afterAll(() => server?.[Symbol.asyncDispose]());

const wild = 'it\'s "quoted" $HOME `id` \\n \\ <b> é \u{1f600}\nnext';
const agent = (name: string) => ({
  name,
  instructions: wild,
  model: "test/echo",
  description: null,
  metadata: { "a-b": wild.slice(0, 30), class: "x" },
  output_schema: { type: "object", properties: { class: { enum: [true, null, 1.5] } } },
});

/**
 * Covers the kinds of samples: a body with any characters, a query, a list, a stream, names that are keywords of a
 * language.
 */
async function requestsFor(name: string): Promise<ApiRequest[]> {
  const { output_schema: _, ...plain } = agent("echo");
  const { id } = (await server.post("/v1/agents", plain)).body;
  const { id: store } = (await server.post("/v1/memory", { name, kind: "kv" })).body;
  return [
    { method: "POST", path: "/v1/agents", body: agent(name) },
    { method: "GET", path: "/v1/agents?limit=1", note: "The newest" },
    { method: "POST", path: "/v1/runs?wait=10", body: { agent_id: id, input: `${name}: waited` } },
    { method: "POST", path: "/v1/runs", body: { agent_id: id, input: `${name}: ${wild}`, stream: true }, stream: true },
    { method: "PUT", path: `/v1/memory/${store}/keys/a%2Fb`, body: { value: [wild] } },
    { method: "DELETE", path: `/v1/agents/${id}` },
  ];
}

async function expectDone(name: string, printed: string): Promise<void> {
  const all: Json[] = (await server.get("/v1/agents?limit=100")).body.data;
  const created = all.find((one) => one.name === name);
  expect((await server.get(`/v1/agents/${created?.id}`)).body).toMatchObject(agent(name));
  const runs: Json[] = (await server.get("/v1/runs?limit=100")).body.data;
  expect(
    runs.filter(({ input }) => String(input).startsWith(name)).map(({ input, status }) => [input, status]),
  ).toEqual([
    [`${name}: ${wild}`, "completed"],
    [`${name}: waited`, "completed"],
  ]);
  const stores: Json[] = (await server.get("/v1/memory?limit=100")).body.data;
  const store = stores.find((one) => one.name === name)!;
  expect((await server.get(`/v1/memory/${store.id}/keys/a%2Fb`)).body.value).toEqual([wild]);
  expect(printed).toContain("run.completed");
}

test.each(["node", "bun"] as const)("the TypeScript samples of the dashboard work in %s", async (name) => {
  await using runtimes = await startRuntimes(server);
  const code = requestsCode("typescript", server.url, await requestsFor(name), caFile);
  await expectDone(name, await runtimes.runFile(name, code, { RUNNEL_API_KEY: server.keys.test }));
});

const python = await pythonForExamples();

test.skipIf(!python)("the Python samples of the dashboard work", async () => {
  using client = await installClient(server, python!);
  const code = requestsCode("python", server.url, await requestsFor("python"), caFile);
  const { code: exit, stdout, stderr } = await client.python("-c", code);
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
  await expectDone("python", stdout);
});
