import { afterAll, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { openDatabase } from "../../storage/db/open.ts";
import { createRandom } from "../../testing/random.ts";
import { temporaryFolder } from "../../testing/temporary.ts";
import { type TestApp, testApp } from "../../testing/test-app.ts";

// Lives of a server at which each event arrives several times, and which dies after a random commit: the next life
// begins with the database as it was then, and its senders repeat everything.

const seeds = Number(process.env.SEEDS ?? 12);
const masterKey = crypto.getRandomValues(new Uint8Array(32));
const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

let files = 0;
function serverOn(bytes: Uint8Array): TestApp {
  const path = folder.file(`${files++}.db`);
  writeFileSync(path, bytes);
  return testApp({ masterKey, db: openDatabase(path) });
}

interface Trigger {
  url: string;
  secret: string;
}

/** Returns a database with a trigger. */
async function prepared(): Promise<{ bytes: Uint8Array; trigger: Trigger }> {
  await using server = testApp({ masterKey });
  const client = await server.client();
  const agent = await client.post("/v1/agents", { name: "a", instructions: "", model: "test/echo" });
  const { body } = await client.post("/v1/triggers", {
    name: "t",
    agent_id: agent.body.id,
    verification: "github",
    thread: "body.thread",
    rate_limit_per_minute: 6000,
  });
  return { bytes: server.db.sqlite.serialize(), trigger: body };
}

/** Sends one of the events; returns its run, or null if the server refused it. */
async function send(server: TestApp, { url, secret }: Trigger, event: number): Promise<string | null> {
  const body = JSON.stringify({ event, thread: event % 2 });
  const headers = {
    "content-type": "application/json",
    "x-github-delivery": `delivery ${event}`,
    "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
  };
  const { pathname } = new URL(url);
  const response = await server.app.handle(
    new Request(`http://localhost${pathname}`, { method: "POST", headers, body }),
  );
  expect([200, 202]).toContain(response.status);
  return ((await response.json()) as { run_id: string }).run_id;
}

const runsIn = ({ db }: TestApp): string[] =>
  db.sqlite
    .query<{ id: string }, []>("SELECT id FROM runs ORDER BY id")
    .all()
    .map(({ id }) => id);

test("an event that comes several times makes one run, whatever commit the server dies after", async () => {
  const { bytes, trigger } = await prepared();
  for (let seed = 0; seed < seeds; seed++) {
    const { below } = createRandom(seed);
    const events = [0, 1, 2];
    const cuts: { bytes: Uint8Array; acknowledged: Map<number, string> }[] = [];
    const acknowledged = new Map<number, string>();
    const sendAll = (server: TestApp) =>
      Promise.all(
        [...events, ...events, ...events]
          .sort(() => below(3) - 1)
          .map(async (event) => {
            for (let turns = below(4); turns > 0; turns--) await Promise.resolve();
            const id = await send(server, trigger, event);
            const before = acknowledged.get(event);
            if (id !== null && before !== undefined) expect({ seed, event, id }).toEqual({ seed, event, id: before });
            if (id !== null) acknowledged.set(event, id);
          }),
      );
    {
      await using server = serverOn(bytes);
      const cut = () => cuts.push({ bytes: server.db.sqlite.serialize(), acknowledged: new Map(acknowledged) });
      cut();
      server.db.write.timed(cut);
      await sendAll(server);
    }
    const { bytes: left, acknowledged: known } = cuts[below(cuts.length)]!;
    acknowledged.clear();
    for (const [event, id] of known) acknowledged.set(event, id);
    await using next = serverOn(left);
    await next.recover();
    await sendAll(next);
    expect({ seed, runs: runsIn(next) }).toEqual({ seed, runs: [...acknowledged.values()].sort() });
  }
}, 120_000);
