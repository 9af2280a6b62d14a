import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { noUsage } from "../../domain/usage.ts";
import { capsuleOf, exportOf, richRun } from "../../testing/capsules.ts";
import { type Client, type TestApp, testApp } from "../../testing/test-app.ts";
import { readTraceFile } from "./trace-file.ts";
import { traceTree } from "./trace-tree.ts";

const folder = mkdtempSync(join(tmpdir(), "runnel-trace-file-"));
let server: TestApp;
let client: Client;
let run: { id: string };
let capsule: Uint8Array<ArrayBuffer>;

beforeAll(async () => {
  using tool = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => Response.json({ found: 1 }) });
  server = testApp();
  client = await server.client();
  run = await richRun(client, `http://127.0.0.1:${tool.port}`);
  capsule = await capsuleOf(server, client, run.id);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function file(content: string | Uint8Array): Promise<string> {
  const path = join(folder, crypto.randomUUID());
  await Bun.write(path, content);
  return path;
}

test("a capsule gives the same trace and tree as the server, including the steps of child runs", async () => {
  const { body: own } = await client.get(`/v1/traces/${run.id}?include=subagents&limit=100`);
  const { request_id: _, ...expected } = own;
  const read = await readTraceFile(await file(capsule));
  expect(read as object).toEqual(expected);
  expect(traceTree(read)).toBe(traceTree(own));
  expect(read.steps.some(({ parent_id }) => parent_id !== null)).toBe(true);
});

test("an exported trace gives the same steps as the server, without those of child runs, which it does not contain", async () => {
  const read = await readTraceFile(await file(JSON.stringify(await exportOf(client, run.id, 2))));
  const { body: own } = await client.get(`/v1/traces/${run.id}?limit=100`);
  expect(read.steps).toEqual(own.steps.map((step: object) => ({ ...step, run_id: run.id, parent_id: null })));
});

test("a file that is neither a capsule nor an exported trace is refused with the reason and its name", async () => {
  const whole = await exportOf(client, run.id);
  const damaged = capsule.slice();
  damaged.fill(255, 8192);
  const { raw: _, ...withoutEntries } = whole;
  const cases: [string | Uint8Array, RegExp][] = [
    ["", /not valid JSON/],
    ["PK\u0003\u0004 a zip", /not valid JSON/],
    ["{}", /not an exported trace/],
    ["[".repeat(10_000), /nests deeper/],
    [JSON.stringify(withoutEntries), /include=raw/],
    [JSON.stringify({ ...whole, raw: whole.raw.slice(1) }), /numbered from 1/],
    ["SQLite format 3\u0000", /not a capsule|damaged/],
    [capsule.slice(0, 5000), /damaged/],
    [damaged, /damaged|no capsule/],
  ];
  for (const [content, message] of cases) {
    const path = await file(content);
    const error = await readTraceFile(path).catch((error) => error);
    expect([error.name, String(error.message).startsWith(path)]).toEqual(["CliError", true]);
    expect(error.message).toMatch(message);
  }
});

test("texts of a run cannot move the cursor, begin a line or reverse one in the tree", async () => {
  const trace = await exportOf(client, run.id);
  const started = ({ event }: { event: { type: string } }) => event.type === "step.started";
  trace.steps.flatMap(({ raw }: { raw: object[] }) => raw).find(started).event.name =
    "\u001b[2J\r\n└─ 9 tool_call forged\u202e";
  const tree = traceTree(await readTraceFile(await file(JSON.stringify(trace))));
  for (const odd of ["\u001b", "\r", "\u202e", "\n└─ 9"]) expect(tree).not.toContain(odd);
  expect(tree).toContain("forged");
});

test("a tree of thousands of steps is drawn before this test's deadline", async () => {
  const { body: own } = await client.get(`/v1/traces/${run.id}?limit=100`);
  const [model] = own.steps;
  const steps = Array.from({ length: 5000 }, (_, i) => ({ ...model, id: `stp_${i}`, parent_id: null, turn_index: i }));
  expect(traceTree({ ...own, steps }).split("\n").length).toBe(5001);
}, 60_000);

test("the head of a run without usage shows no tokens and no cost", async () => {
  const own = await readTraceFile(await file(capsule));
  const head = (more: object) => traceTree({ ...own, ...more, steps: [] });
  expect(head({ status: "completed" })).toContain("tokens");
  expect(head({ status: "in_progress", usage: noUsage })).not.toMatch(/tokens|\$/);
  expect(head({ status: "failed", usage: noUsage })).toContain("0 → 0 tokens  $0.00");
});
