import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vecLibrary } from "../../lib/assets.ts";
import { openDatabase } from "../../storage/db/open.ts";
import { testApp } from "../../testing/test-app.ts";

const script = [{ error: "Out of order." }];
const masterKey = crypto.getRandomValues(new Uint8Array(32));

test("a process that dies after any commit rolls a label back once, with one audit entry and one event", async () => {
  const folder = mkdtempSync(join(tmpdir(), "label-rollback-"));
  const copies: Uint8Array[] = [];
  let label: string;
  let path: string;
  let hook: string;
  let secret: string;
  {
    await using server = testApp({ masterKey });
    const admin = await server.client();
    secret = admin.key.secret;
    const body = { name: "desk", instructions: "", model: "test/script", model_settings: { script } };
    const { id } = (await admin.post("/v1/agents", body)).body;
    await admin.patch(`/v1/agents/${id}`, { instructions: "Be brief." });
    const url = "https://[2001:4860:4860::8888]/";
    hook = (await admin.post("/v1/webhooks", { url, events: ["label.rolled_back"] })).body.id;
    path = `/v1/agents/${id}/labels/production`;
    await admin.put(path, { version: 1 });
    const rule = { rollback_on: { failure_rate: 1, min_runs: 2 } };
    label = (await admin.put(path, { version: 2, ...rule })).body.id;
    server.watches.listen(() => copies.push(server.db.sqlite.serialize()));
    for (let i = 0; i < 2; i++)
      await admin.post("/v1/runs?wait=60", { agent_id: id, label: "production", input: "Hi." });
  }
  expect(copies.length).toBeGreaterThan(3);
  const outcomes = [];
  for (const [i, bytes] of copies.entries()) {
    const file = join(folder, `${i}.db`);
    writeFileSync(file, bytes);
    await using server = testApp({ masterKey, db: openDatabase(file, { vecLibrary: vecLibrary("") }) });
    const ended = Promise.withResolvers<void>();
    const isOver = () =>
      server.db.sqlite.query("SELECT 1 FROM runs WHERE ended_at_ms IS NULL").get() === null && ended.resolve();
    server.watches.listen(isOver);
    await server.recover();
    isOver();
    await ended.promise;
    const get = async (at: string) =>
      (await server.send("GET", at, undefined, { authorization: `Bearer ${secret}` })).body;
    const runs = (await get("/v1/runs")).data.length;
    // Copies of the first run's time lack the second run.
    if (runs < 2) continue;
    const { version, revision } = await get(path);
    const audit = (await get(`/v1/audit_log?target_id=${label}&action=label.rolled_back`)).data.length;
    const events = (await get(`/v1/webhooks/${hook}/deliveries`)).data.length;
    outcomes.push({ version, revision, audit, events });
  }
  rmSync(folder, { recursive: true });
  expect(outcomes.length).toBeGreaterThan(1);
  for (const outcome of outcomes) expect(outcome).toEqual({ version: 1, revision: 3, audit: 1, events: 1 });
});
