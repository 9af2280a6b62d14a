import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createScripted, createTool, runToEnd } from "./fixtures.ts";
import { type Json, parseResponse, type Runnel, runCommand, startRunnel } from "./harness.ts";

// A run is exported from one machine as a file and opened on others.
const capsuleType = "application/vnd.sqlite3";
const folder = mkdtempSync(join(tmpdir(), "runnel-capsules-"));
const capsuleFile = join(folder, "run.capsule.sqlite3");
const jsonFile = join(folder, "run.json");
let here: Runnel;
let run: Json;
let capsule: Uint8Array<ArrayBuffer>;

beforeAll(async () => {
  here = await startRunnel();
  const below = await createScripted(here, [{ text: "It is dry." }]);
  const tool = await createTool(here, { name: "ask_below", type: "agent", agent_id: below, parameters: undefined });
  const agent = await createScripted(
    here,
    [{ tool_calls: [{ name: "ask_below", arguments: { input: "Is it dry?" } }] }, { text: "Take no coat." }],
    { tools: [tool.id] },
  );
  const upload = { filename: "notes.txt", text: "Coats are red.", purpose: "attachment" };
  const file = (await here.post("/v1/files", upload)).body;
  run = await runToEnd(here, agent, { file_ids: [file.id] });
  expect(run).toMatchObject({ status: "completed", output: "Take no coat." });
  const response = await here.fetch(`/v1/runs/${run.id}/capsule`);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, capsuleType]);
  capsule = new Uint8Array(await response.arrayBuffer());
  writeFileSync(capsuleFile, capsule);
  writeFileSync(jsonFile, JSON.stringify((await here.get(`/v1/traces/${run.id}?include=raw`)).body));
});
afterAll(async () => {
  await here[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const send = async (server: Runnel, body: Uint8Array<ArrayBuffer>) =>
  parseResponse(await server.fetch("/v1/traces", { method: "POST", headers: { "content-type": capsuleType }, body }));

const stepsOf = async (server: Runnel, id: string): Promise<Json[]> =>
  (await server.get(`/v1/traces/${id}?include=subagents`)).body.steps;

const named = (steps: Json[]) => steps.map(({ id, type, input, output, status }) => [id, type, input, output, status]);

test("a run exported by one server is shown, replayed and exported again by another", async () => {
  await using there = await startRunnel();
  const { status, body } = await send(there, capsule);
  expect([status, body.error]).toEqual([201, undefined]);
  expect(named(await stepsOf(there, body.run_id))).toEqual(named(await stepsOf(here, run.id)));
  const replay = await there.post(`/v1/runs/${body.run_id}/replay`, { mode: "strict" });
  expect([replay.status, replay.body.status, replay.body.output]).toEqual([201, "completed", "Take no coat."]);
  const again = await there.fetch(`/v1/runs/${body.run_id}/capsule`);
  const back = await send(here, new Uint8Array(await again.arrayBuffer()));
  expect(named(await stepsOf(here, back.body.run_id))).toEqual(named(await stepsOf(here, run.id)));
});

test("the command line shows a file's content without a server, a key or a data directory", async () => {
  const shown = await here.command("trace", run.id);
  const cwd = join(folder, "empty");
  mkdirSync(cwd);
  const fromFile = await runCommand(["trace", capsuleFile], { cwd });
  expect(fromFile).toEqual({ code: 0, stdout: shown.stdout, stderr: "" });
  expect(fromFile.stdout).toMatch(/^run_.*completed.*\n.*0 model_call.*\n(.*\n)*.*subagent/);
  const json = await runCommand(["trace", jsonFile, "--json"], { cwd });
  expect([json.code, JSON.parse(json.stdout).run_id]).toEqual([0, run.id]);
  expect(readdirSync(cwd)).toEqual([]);
});

test("an invalid or missing capsule is named, and the exit code is 1", async () => {
  const other = join(folder, "other");
  writeFileSync(
    other,
    capsule.map((byte, at) => (at > 4096 ? byte ^ 255 : byte)),
  );
  for (const path of [other, folder, join(folder, "nothing"), "/dev/zero"]) {
    const { code, stdout, stderr } = await runCommand(["trace", path]);
    expect([path, code, stdout]).toEqual([path, 1, ""]);
    expect(stderr).toContain(path);
    expect(stderr).not.toContain("    at ");
  }
});

test("a server that dies in the middle of an import has nothing of it after the restart", async () => {
  // At this point the run is written, and its agent's run almost.
  await using there = await startRunnel({ environment: { RUNNEL_FAILPOINT: "before_run.completed:2" } });
  await expect(send(there, capsule)).rejects.toThrow();
  expect(await there.died()).toBe("SIGKILL");
  await there.restart({});
  for (const path of ["/v1/runs", "/v1/traces"]) expect((await there.get(path)).body.data).toEqual([]);
  const audited = (await there.get("/v1/audit_log")).body.data.map(({ action }: Json) => action);
  expect(audited).not.toContain("trace.imported");
  expect(leftIn(there)).toEqual([]);
  expect((await send(there, capsule)).status).toBe(201);
});

test("half-written files of a killed server are removed by the next start", async () => {
  await using there = await startRunnel();
  const half = Promise.withResolvers<void>();
  const body = new ReadableStream({
    async start(controller) {
      controller.enqueue(capsule.subarray(0, 10_000));
      await half.promise;
      controller.close();
    },
  });
  const headers = { "content-type": capsuleType };
  const request = there.fetch("/v1/traces", { method: "POST", headers, body }).catch(() => null);
  while (leftIn(there).length === 0) await Bun.sleep(5);
  await there.kill9();
  half.resolve();
  await request;
  writeFileSync(join(there.dataDir, "capsules", `${crypto.randomUUID()}.capsule`), "half of an export");
  expect(leftIn(there).length).toBe(2);
  await there.restart();
  expect(leftIn(there)).toEqual([]);
});

/** Returns the request files in a data directory. */
function leftIn({ dataDir }: Runnel): string[] {
  const path = join(dataDir, "capsules");
  return existsSync(path) ? readdirSync(path) : [];
}
