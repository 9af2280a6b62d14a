import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { linkSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { migrations } from "../migrations/index.ts";
import { type EventStream, type Frame, seqsOf, textsOf } from "./event-stream.ts";
import { createScripted } from "./fixtures.ts";
import { executable, type Runnel, startRunnel } from "./harness.ts";
import { startLoad } from "./steady-load.ts";
import { waitUntil } from "./until.ts";

const text = "word ".repeat(400).trim();

/** Follows a run to its end over every restart, as a client library does. */
async function follow(server: Runnel, first: EventStream): Promise<Frame[]> {
  const frames: Frame[] = [];
  for (let stream = first; ; ) {
    await stream.rest();
    frames.push(...stream.frames);
    if (frames.at(-1)?.event === "run.completed") return frames;
    expect([stream.ending(), stream.comments.at(-1)]).toEqual(["ended", "closing"]);
    const after = frames.findLast(({ id }) => id !== "")!.id;
    stream = await server.stream(`/v1/runs/${frames[0]!.data.run_id}/events`, { after });
  }
}

test("three restarts under load refuse no request, lose no acknowledged run, and every stream continues where it ended", async () => {
  await using server = await startRunnel();
  const agent_id = await createScripted(server, [{ text: "Done." }]);
  const slow = await createScripted(server, [{ text, delta_ms: 20 }]);
  const begun = await Promise.all(
    Array.from({ length: 5 }, () => server.stream("/v1/runs", { body: { agent_id: slow, input: "Go", stream: true } })),
  );
  await Promise.all(begun.map((stream) => stream.until("token")));
  const followed = begun.map((stream) => follow(server, stream));

  const load = startLoad(server, { agent_id, keeping: 2, connecting: 2, seldom: 1 });
  const more = async () => {
    const before = load.runs.length;
    await waitUntil(() => load.runs.length > before + 20);
  };
  for (let restart = 0; restart < 3; restart++) {
    await more();
    await server.replace();
  }
  await more();
  await load.stop();

  expect(load.failures).toEqual([]);
  for (const frames of await Promise.all(followed)) {
    const seqs = seqsOf(frames);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect(textsOf(frames)).toEqual([text]);
  }
  expect(new Set(load.runs).size).toBe(load.runs.length);
  for (const id of load.runs)
    expect((await server.get(`/v1/runs/${id}`)).body).toMatchObject({ status: "completed", output: "Done." });
}, 180_000);

test("a server whose successor does not start keeps serving, and the restart command reports why", async () => {
  const folder = mkdtempSync(join(dirname(executable), "handover-"));
  const program = join(folder, "runnel");
  try {
    linkSync(executable, program);
    await using server = await startRunnel({ program });
    rmSync(program);
    writeFileSync(program, "#!/bin/sh\nexit 3\n", { mode: 0o755 });
    const { code, stderr } = await server.command("restart");
    expect([code, stderr]).toEqual([1, expect.stringContaining("It ended with 3.")]);
    expect((await server.get("/v1/me")).status).toBe(200);
    expect(await server.stop()).toBe(0);
    expect((await server.command("restart")).stderr).toContain("No server runs on");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a server keeps serving if its successor is older than the database, and the restart command says so", async () => {
  await using server = await startRunnel();
  const database = join(server.dataDir, "runnel.db");
  setVersion(database, migrations.length + 1);
  const { code, stderr } = await server.command("restart");
  expect([code, stderr]).toEqual([1, expect.stringContaining("It ended with 78.")]);
  expect(server.log()).toContain(`version ${migrations.length + 1}`);
  expect((await server.get("/v1/me")).status).toBe(200);
  setVersion(database, migrations.length);
  await server.replace();
  expect((await server.get("/v1/me")).status).toBe(200);
});

function setVersion(path: string, version: number): void {
  const db = new Database(path);
  db.run("PRAGMA busy_timeout = 60000");
  db.run(`PRAGMA user_version = ${version}`);
  db.close();
}
