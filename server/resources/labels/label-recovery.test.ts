import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { openDatabase } from "../../storage/db/open.ts";
import { settledRun } from "../../testing/settled-run.ts";
import { temporaryFolder } from "../../testing/temporary.ts";
import { testApp } from "../../testing/test-app.ts";

const masterKey = crypto.getRandomValues(new Uint8Array(32));
const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

type Server = ReturnType<typeof testApp>;

/** Sends requests with the key that the first process has made. */
const clientOf = (server: Server, authorization: string) => ({
  get: (path: string) => server.send("GET", path, undefined, { authorization }),
  post: (path: string, body: object) => server.send("POST", path, body, { authorization }),
});

/** Answers the calls of a run until it is over. */
async function toTheEnd(server: Server, client: ReturnType<typeof clientOf>, id: string) {
  for (;;) {
    const run = await settledRun(server, client, id);
    if (run.status !== "requires_action") return run;
    const tool_outputs = run.required_action.submit_tool_outputs.tool_calls.map(
      ({ tool_call_id }: { tool_call_id: string }) => ({
        tool_call_id,
        output: 1,
      }),
    );
    await client.post(`/v1/runs/${id}/submit_tool_outputs`, { tool_outputs });
  }
}

test("a run keeps the version of its label over a crash, though the label was moved meanwhile", async () => {
  const copies: Uint8Array[] = [];
  let authorization: string;
  {
    await using server = testApp({ masterKey });
    const client = await server.client();
    authorization = `Bearer ${client.key.secret}`;
    const tool = (await client.post("/v1/tools", { name: "ask", type: "client" })).body;
    const says = (text: string) => ({ script: [{ tool_calls: [{ name: "ask", arguments: {} }] }, { text }] });
    const body = { name: "desk", instructions: "", model: "test/script", tools: [tool.id] };
    const { id: agent_id } = (await client.post("/v1/agents", { ...body, model_settings: says("v1") })).body;
    await client.patch(`/v1/agents/${agent_id}`, { model_settings: says("v2") });
    const move = (version: number) => client.put(`/v1/agents/${agent_id}/labels/production`, { version });
    const start = () => client.post("/v1/runs?wait=60", { agent_id, label: "production", input: "Hi." });
    await move(1);
    server.watches.listen(() => void copies.push(server.db.sqlite.serialize()));
    const first = (await start()).body;
    await move(2);
    const second = (await start()).body;
    for (const { id } of [first, second]) await toTheEnd(server, clientOf(server, authorization), id);
  }
  const outcomes = new Set<string>();
  for (const [index, bytes] of copies.entries()) {
    const path = folder.file(`${index}.db`);
    writeFileSync(path, bytes);
    await using server = testApp({ masterKey, db: openDatabase(path) });
    await server.recover();
    const next = clientOf(server, authorization);
    const outputs = [];
    for (const { id } of (await next.get("/v1/runs")).body.data.toReversed()) {
      const { agent_version, output } = await toTheEnd(server, next, id);
      outputs.push(`${agent_version}: ${output}`);
    }
    outcomes.add(outputs.join(", "));
  }
  expect([...outcomes]).toEqual(["1: v1", "1: v1, 2: v2"]);
}, 120_000);
