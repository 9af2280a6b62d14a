import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testApp } from "../../server/testing/test-app.ts";
import { inProject } from "../root.ts";
import { buildClients } from "./build-clients.ts";
import { escapedValues, everyCall, headersOf, pathChangingValues, startRecorder, withPart } from "./every-operation.ts";
import type { OpenApi } from "./openapi.ts";

// The package as built: its bytes, and the programs that its types accept.

const folder = mkdtempSync(join(tmpdir(), "runnel-client-types-"));
const installed = join(folder, "node_modules/runnel-sdk");
const tgzIn = (path: string): string => join(path, readdirSync(path).find((name) => name.endsWith(".tgz"))!);
let document: OpenApi;

beforeAll(async () => {
  await using server = testApp();
  document = (await server.send("GET", "/docs/openapi.json")).body;
  await buildClients(document, join(folder, "built"));
  await new Bun.Archive(await Bun.file(tgzIn(join(folder, "built"))).bytes()).extract(join(folder, "out"));
  mkdirSync(join(folder, "node_modules"));
  await Bun.$`mv ${join(folder, "out/package")} ${installed}`.quiet();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the line numbers that the compiler rejects in a program that imports the package. */
function refusedLines(program: string, module: "nodenext" | "preserve"): number[] {
  writeFileSync(join(folder, "package.json"), '{"type": "module"}');
  writeFileSync(join(folder, "program.ts"), program);
  const compilerOptions = {
    target: "es2022",
    module,
    lib: ["es2022", "dom", "dom.iterable"],
    types: [],
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }));
  const { stdout } = Bun.spawnSync([process.execPath, inProject("node_modules/.bin/tsc"), "-p", folder], {
    cwd: folder,
  });
  const faults = stdout.toString().split("\n").filter(Boolean);
  const elsewhere = faults.filter((line) => !/^(program\.ts\(|\s)/.test(line));
  expect(elsewhere).toEqual([]);
  return [...new Set(faults.flatMap((line) => /^program\.ts\((\d+),/.exec(line)?.[1] ?? []).map(Number))];
}

const accepted = `
import { APIError, type FunctionTool, type List, type Run, Runnel, type StandardSchema, type Tool, tool as define, type FileObject } from "runnel-sdk";
declare const place: StandardSchema<{ city: string }>;
const signal: AbortSignal | undefined = undefined;
const runnel = new Runnel({ baseUrl: "https://127.0.0.1:8443", apiKey: "sk_test_1", ca: undefined, timeoutMs: 1, maxRetries: 0, fetch });
async function program(): Promise<void> {
  const agent = await runnel.agents.create({ name: "Weather", instructions: "Be brief.", model: "test/echo" });
  const version: number = agent.version;
  const stream = runnel.runs.stream({ agent_id: agent.id, input: "Hi" }, { signal });
  for await (const { event, data, id } of stream) {
    const place: string | null = id;
    if (event === "token") { const text: string = data.delta; const kind: "output" | "reasoning" = data.kind; void [text, kind]; }
    else if (event === "run.failed") { const status: "failed" | "cancelled" = data.status; void status; }
    else if (event === "run.requires_action") { const call: string | undefined = data.required_action.submit_tool_outputs.tool_calls[0]?.name; void call; }
    void place;
  }
  const runs: List<import("runnel-sdk").RunListItem> = runnel.runs.list({ limit: 3, status: "failed", "created_at[gt]": "2026-01-01T00:00:00Z" });
  for await (const run of runs) { const status: "queued" | "in_progress" | "requires_action" | "paused" | "completed" | "failed" | "cancelled" = run.status; void status; }
  const page = await runnel.agents.list();
  const more: boolean = page.has_more;
  const names: string[] = page.data.map(({ name }) => name);
  const tool: Tool = await runnel.tools.retrieve("tool_1");
  if (tool.type === "http") { const url: string = tool.url; void url; }
  if (tool.type === "agent") { const called: string = tool.agent_id; void called; }
  const run: Run = await runnel.runs.run(agent, "Hi", {
    tools: { weather: ({ city }: { city: string }) => city.length, clock: () => new Date(), later: async (args) => args.any },
    decide: ({ name }) => (name === "pay" ? { decision: "reject", reason: "Too much." } : { decision: "approve" }),
    onEvent: (event) => { if (event.event === "token") event.data.delta satisfies string; },
    metadata: { a: "b" }, timeout_ms: 5000, signal,
  });
  void runnel.runs.stream({ agent_id: agent.id, input: "Hi", tools: [{ type: "client", name: "clock" }] });
  const weather: FunctionTool = define({ name: "weather", parameters: place, run: ({ city }, { tool_call_id }) => city.length + tool_call_id.length });
  const clock = define<{ zone: string }>({ name: "clock", parameters: { type: "object" }, run: ({ zone }) => zone.length });
  void runnel.runs.stream({ agent_id: agent.id, input: "Hi", tools: [weather, clock, { type: "client", name: "other" }] });
  const typed = await runnel.runs.run(agent, "Hi", { tools: [weather, clock], schema: place });
  const city: string = typed.output_json.city;
  void city;
  const output: string | null = run.output;
  const file: FileObject = await runnel.files.upload(new Blob(["x"]), { filename: "a.txt", purpose: "retrieval", metadata: { a: "b" } });
  const content: Response = await runnel.files.content(file.id);
  const event = await runnel.webhooks.verify("{}", new Headers(), "whsec_1");
  if (event.type === "run.completed") event.data.object.output satisfies string | null | undefined;
  if (event.type === "tool.requested") event.data.tool_call?.arguments satisfies Record<string, unknown> | undefined;
  if (event.type === "file.ready") event.data.object.filename satisfies string;
  await runnel.agents.versions.retrieve(agent.id, 2);
  const trace = await runnel.traces.retrieve(run.id, { include: "raw" });
  const steps: number = trace.steps.length;
  const otlp: unknown[] = (await runnel.traces.retrieve(run.id, { format: "otlp" })).resourceSpans;
  const imported: string = (await runnel.traces.import(new Uint8Array())).id;
  await runnel.memory.keys.set("mem_1", "language", { value: "no" }, { scope_id: "user-1" }, { ifMatch: "3" });
  const call = await runnel.tools.verify("{}", {}, ["whsec_1", "whsec_2"]);
  const callback: string = call.callback_url;
  void [steps, otlp, imported, callback];
  await runnel.suites.runs.create("sui_1", undefined, { wait: 30 });
  try { await runnel.me.retrieve(); } catch (error) { if (error instanceof APIError) error.requestId satisfies string | null; }
  void [version, more, names, output, content];
}
void program();
`;

test("a strict program is accepted, events narrow by name, tools and webhooks by type", () => {
  expect(refusedLines(accepted, "nodenext")).toEqual([]);
  expect(refusedLines(accepted, "preserve")).toEqual([]);
});

test("an argument unknown to the API is rejected", () => {
  const refused = [
    'import { Runnel } from "runnel-sdk"; const runnel = new Runnel();',
    'runnel.agents.create({ name: "a", instructions: "b", model: "test/echo", temprature: 1 });',
    'runnel.agents.create({ instructions: "b", model: "test/echo" });',
    'runnel.runs.list({ status: "done" });',
    'runnel.runs.create({ agent_id: "agt_1" });',
    'runnel.runs.stream({ agent_id: "agt_1", input: "a", stream: false });',
    'for await (const { event, data } of runnel.runs.stream({ agent_id: "agt_1", input: "a" })) if (event === "run.completed") data.delta;',
    'runnel.runs.run("agt_1", "a", { decide: () => ({ decision: "maybe" }) });',
    'runnel.files.upload(new Blob([]), { filename: "a.txt", purpose: "fun" });',
    "runnel.agents.retrieve(1);",
    'runnel.traces.retrieve("run_1", { format: "pdf" });',
    '(await runnel.webhooks.verify("", {}, "")).callback_url;',
    'const told = await runnel.webhooks.verify("", {}, ""); if (told.type === "file.ready") told.data.object.output;',
    'new Runnel({ base_url: "https://127.0.0.1:8443" });',
    '(await import("runnel-sdk")).tool({ name: "a", run: 1 });',
    'runnel.runs.run("agt_1", "a", { tools: [{ type: "client", name: "a" }] });',
  ];
  const lines = refusedLines(refused.join("\n"), "nodenext");
  expect(lines).toEqual(refused.slice(1).map((_, index) => index + 2));
});

test("every operation is a method that sends each argument to its place, and declares its result", async () => {
  const calls = everyCall(document);
  using recorder = startRecorder(headersOf(calls));
  const { Runnel } = await import(join(installed, "dist/index.js"));
  const runnel = new Runnel({ baseUrl: recorder.url, apiKey: "sk_test_1", fetch });
  for (const { id, typescript, sent } of calls) {
    const [method, ...resource] = typescript.path.toReversed();
    // biome-ignore lint/suspicious/noExplicitAny: any resource of any depth.
    const its = resource.reduceRight((inner: any, name) => inner[name], runnel);
    await its[method!](...typescript.args);
    expect({ id, ...recorder.received.pop() }).toEqual({ id, ...sent });
  }
  expect(calls.length).toBeGreaterThan(90);
  const types = await Bun.file(join(installed, "dist/index.d.ts")).text();
  expect(types.match(/^ {4}.*(Promise<unknown>|Promise<any>|: any[;,)]).*$/gm)).toBeNull();
});

test("no method sends a request if a path argument would change the route, and other values arrive unchanged", async () => {
  const calls = everyCall(document);
  using recorder = startRecorder(headersOf(calls));
  const { Runnel, RunnelError } = await import(join(installed, "dist/index.js"));
  const runnel = new Runnel({ baseUrl: recorder.url, apiKey: "sk_test_1", fetch });
  const perform = async ({ typescript: { path, args } }: (typeof calls)[number]) => {
    const [method, ...resource] = path.toReversed();
    // biome-ignore lint/suspicious/noExplicitAny: any resource of any depth.
    await resource.reduceRight((inner: any, name) => inner[name], runnel)[method!](...args);
  };
  let refused = 0;
  for (const call of calls)
    for (let index = 0; index < call.parts; index++) {
      for (const value of pathChangingValues) {
        const error = await perform(withPart(call, index, value, value)).catch((reason) => reason);
        expect({ id: call.id, value, isRefused: error instanceof RunnelError }).toMatchObject({ isRefused: true });
        refused++;
      }
      expect(recorder.received).toEqual([]);
      for (const [value, encoded] of Object.entries(escapedValues)) {
        const sent = withPart(call, index, value, encoded);
        await perform(sent);
        expect({ id: call.id, path: recorder.received.pop()?.path }).toEqual({ id: call.id, path: sent.sent.path });
      }
    }
  expect(refused).toBeGreaterThan(150);
  const raw = runnel.json("GET", "/v1/memory/mem_1/keys/%2E%2e").catch((reason: unknown) => reason);
  expect([await raw, recorder.received]).toEqual([expect.any(RunnelError), []]);
});

test("every method has its operation's description", async () => {
  const types = await Bun.file(join(installed, "dist/index.d.ts")).text();
  for (const { summary, description } of Object.values(document.paths).flatMap((verbs) => Object.values(verbs))) {
    expect(types).toContain(`     * ${summary}.\n`);
    if (description) expect(types).toContain(description.split("\n")[0]!);
  }
  expect(types).toContain("What the tool is for; the model reads it.");
});

test("the same sources give the same bytes", async () => {
  await buildClients(document, join(folder, "again"));
  for (const name of readdirSync(join(folder, "built")))
    expect(await Bun.file(join(folder, "again", name)).bytes()).toEqual(
      await Bun.file(join(folder, "built", name)).bytes(),
    );
});

test("the package contains its licence and its readme, and has no dependencies", async () => {
  expect(await Bun.file(join(installed, "LICENSE")).text()).toContain("Apache License");
  expect(await Bun.file(join(installed, "README.md")).text()).toContain("new Runnel(");
  const manifest = await Bun.file(join(installed, "package.json")).json();
  expect(manifest).toMatchObject({ name: "runnel-sdk", license: "Apache-2.0", version: document.info.version });
  expect(Object.keys(manifest).filter((name) => /dependencies/i.test(name))).toEqual([]);
});
