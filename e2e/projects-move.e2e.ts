import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Postgres, sqlAt, startPostgres } from "../server/testing/postgres.ts";
import { startWebhookReceiver } from "../server/testing/webhook-receiver.ts";
import { type Cluster, startCluster } from "./cluster/nodes.ts";
import { ask, bothLed, cleaned, command, post, requestWithRetry, tryCommand } from "./cluster/requests.ts";
import { createAgent, createClient, recordOf, startTools } from "./cluster/storm.ts";
import { openStream } from "./event-stream.ts";
import { type Json, runCommand } from "./harness.ts";
import { startToolServer } from "./tool-server.ts";
import { waitUntil, withTimeout } from "./until.ts";

/** Returns the cell that Postgres records for a project. */
async function cellOf(cluster: Cluster, project: string): Promise<string> {
  const [row] = await sqlAt(cluster.engine(), `SELECT cell FROM runnel_projects WHERE id = '${project}'`);
  return row!.cell as string;
}

const cellsOf = (cluster: Cluster) => cluster.cell.split(",") as [string, string];
const move = (cluster: Cluster, project: string, ...more: string[]) =>
  tryCommand(cluster, ["projects", "move", project, "--to", cellsOf(cluster)[1], ...more]);

/** Counts a project's rows on a cell's leader, by table; tables without any are left out. */
async function rowsOf(cluster: Cluster, cell: string, project: string): Promise<Record<string, number>> {
  let counts: Record<string, number> | null = null;
  // A new leader installs its database first, and a former one deletes its folder on exit.
  await waitUntil(async () => {
    const leader = await cluster.leader(cell);
    const { child, dataDir, url } = leader;
    const health = await fetch(`${url}/healthz`).then(
      (answer) => answer.json(),
      () => null,
    );
    if (health?.status !== "ok" || leader.child !== child) return false;
    try {
      counts = countsIn(join(dataDir, "runnel.db"), project);
    } catch (error) {
      if (child.exitCode === null && child.signalCode === null) throw error;
    }
    return counts !== null;
  });
  return counts!;
}

function countsIn(path: string, project: string): Record<string, number> {
  using database = new Database(path, { readonly: true });
  const tables = database
    .query<{ name: string }, []>(
      `SELECT t.name FROM pragma_table_list t, pragma_table_info(t.name) c
       WHERE t.schema = 'main' AND t.type = 'table' AND c.name = 'project_id'`,
    )
    .all();
  const counts = tables.map(({ name }) => {
    const count = database.query<{ n: number }, [string]>(`SELECT count(*) AS n FROM ${name} WHERE project_id = ?`);
    return [name, count.get(project)!.n] as const;
  });
  return Object.fromEntries(counts.filter(([, n]) => n > 0));
}

/** Tables that are rebuilt in the target cell, or that change by themselves. */
const changingTables = [
  "search_documents",
  "search_changes",
  "audit_log",
  "analytics",
  "webhook_attempts",
  "idempotency_keys",
];
const withoutChangingTables = (rows: Record<string, number>) =>
  Object.fromEntries(Object.entries(rows).filter(([table]) => !changingTables.includes(table)));

const isOver = ({ status }: Json): boolean => ["completed", "failed", "cancelled"].includes(status);

/** Starts clients that create runs of six model calls and five tool calls, and follow them through any node. */
async function startClients(cluster: Cluster, toolsUrl: string, count: number) {
  const agent_id = await createAgent(cluster, toolsUrl);
  const clients = Array.from({ length: count }, (_, n) => createClient(cluster, agent_id, `run ${n}`));
  const following = clients.map((client) => client.follow());
  await waitUntil(() => clients.every((client) => client.told().size > 2));
  return {
    clients,
    /** Waits until all have read their runs to the end. Returns counts that must be zero. */
    async ended(tools: ReturnType<typeof startTools>) {
      await withTimeout(Promise.all(following), "every run ends");
      let gaps = 0;
      let unfinished = 0;
      for (const client of clients) {
        const record = await recordOf(cluster, client.id());
        if (record?.run.status !== "completed") unfinished++;
        for (const events of [record!.events, client.told()])
          gaps += [...events.keys()].filter((seq, index) => seq !== index + 1).length;
        gaps += [...client.told()].filter(([seq, text]) => record!.events.get(seq) !== text).length;
      }
      const sum = (of: (client: (typeof clients)[number]) => number) => clients.reduce((all, one) => all + of(one), 0);
      return {
        unfinished,
        gaps,
        unsafe: tools.unsafe(),
        repeated: sum(({ done }) => tools.calledAfter(done)),
        otherwise: sum((client) => client.otherwise()),
        wrong: clients.flatMap((client) => client.wrong()),
        missing: sum((client) => Number(client.isMissing())),
      };
    },
  };
}

let clusters = 0;
/** Returns the cells of a cluster that shares its Postgres with others. */
const ownCells = () => ({ cell: `main-${++clusters},east-${clusters}` });

/** Returns the default project and starts runs in it. */
async function begin(cluster: Cluster, toolsUrl: string) {
  const { main } = await bothLed(cluster);
  const project: string = (await ask(main, "/v1/me", cluster.keys.test)).project_id;
  return { project, runs: await startClients(cluster, toolsUrl, 5) };
}

/** Expects all of a project in one cell, and nothing of it in the other. */
async function expectOneCopy(cluster: Cluster, project: string, expected: string): Promise<void> {
  await waitUntil(async () => {
    const moves = await sqlAt(cluster.engine(), `SELECT id FROM runnel_moves WHERE project = '${project}'`);
    return moves.length === 0;
  });
  expect(await cellOf(cluster, project)).toBe(expected);
  for (const cell of cellsOf(cluster)) {
    const rows = await rowsOf(cluster, cell, project);
    expect([cell, (rows.runs ?? 0) > 0, Object.keys(rows).length > 0]).toEqual([
      cell,
      ...(cell === expected ? [true, true] : [false, false]),
    ]);
  }
  for (const { url } of cluster.nodes) expect((await ask(url, "/v1/me", cluster.keys.test)).project_id).toBe(project);
}

const noViolations = {
  unfinished: 0,
  gaps: 0,
  unsafe: 0,
  repeated: 0,
  otherwise: 0,
  wrong: [] as string[],
  missing: 0,
};

describe.if(startPostgres.orSkipped("projects that are moved"))("a project is moved to another cell", () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await startPostgres({ standby: true });
  }, 180_000);
  afterAll(async () => await postgres?.[Symbol.asyncDispose]());

  test("with runs in progress, waiting runs, files, memory, webhooks and keys; every run ends once", async () => {
    await using cluster = await startCluster({ nodes: 3, cell: "main,east", lease_s: 20 });
    await using tools = startTools();
    await using hooks = startWebhookReceiver(() => new Response("Not now.", { status: 500 }));
    const { main, east, spare } = await bothLed(cluster);
    const key = cluster.keys.test;
    const project = (await ask(main, "/v1/me", key)).project_id;

    await post(main, "/v1/webhooks", key, { url: hooks.url, events: ["run.completed"] });
    const file = await post(main, "/v1/files", key, {
      filename: "a.txt",
      text: "x".repeat(600_000),
      purpose: "attachment",
    });
    const memory = await post(main, "/v1/memory", key, { name: "notes", kind: "vector", scope: "project" });
    await post(main, `/v1/memory/${memory.id}/entries`, key, { text: "The office in Bergen is closed on Mondays." });
    const asks = await post(main, "/v1/tools", key, { name: "asks", type: "client" });
    const refund = await post(main, "/v1/tools", key, {
      name: "refund",
      url: `${tools.url}/refund`,
      approval: "always",
      parameters: { type: "object" },
    });
    const agentOf = (name: string) =>
      post(main, "/v1/agents", key, {
        name,
        instructions: "",
        model: "test/script",
        tools: [asks.id, refund.id],
        model_settings: { script: [{ tool_calls: [{ name, arguments: {} }] }, { text: "All of it is done." }] },
      });
    const waiting = await Promise.all(
      ["asks", "refund"].map(async (name) =>
        post(main, "/v1/runs?wait=60", key, { agent_id: (await agentOf(name)).id, input: "Go." }),
      ),
    );
    expect(waiting.map(({ status }) => status)).toEqual(["requires_action", "requires_action"]);
    await waitUntil(async () => {
      const found = await post(main, `/v1/memory/${memory.id}/search`, key, { query: "When is Bergen closed?" });
      return found.data.length === 1;
    });
    const revoked = JSON.parse(await command(cluster, ["keys", "create", "--project", "default", "--json"]));
    await command(cluster, ["keys", "revoke", revoked.id]);
    const { clients, ended } = await startClients(cluster, tools.url, 6);
    // One client streams a waiting run, and another waits for one in the middle of a step.
    const read = (id: string, lastId: string | null) =>
      openStream((signal) =>
        cluster.request(spare, `/v1/runs/${id}/events`, {
          headers: { accept: "text/event-stream", ...(lastId && { "last-event-id": lastId }) },
          signal,
        }),
      );
    await using stream = await read(waiting[0]!.id, null);
    await stream.until("run.requires_action");
    await using slow = startToolServer();
    const slowTool = await post(main, "/v1/tools", key, {
      name: "slow",
      url: `${slow.url}/slow/1500`,
      idempotent: false,
    });
    const slowAgent = await post(main, "/v1/agents", key, {
      name: "slow",
      instructions: "",
      model: "test/script",
      tools: [slowTool.id],
      model_settings: { script: [{ tool_calls: [{ name: "slow", arguments: {} }] }, { text: "Done." }] },
    });
    const asked = post(east, "/v1/runs?wait=60", key, { agent_id: slowAgent.id, input: "Go." });
    await slow.called("/slow/1500");
    const before = await rowsOf(cluster, "main", project);

    const { code, stdout, stderr } = await move(cluster, "default", "--json");
    expect([code, stderr, code === 0 && JSON.parse(stdout)]).toEqual([
      0,
      "",
      { id: project, name: "default", cell: "east" },
    ]);
    expect(await ended(tools)).toEqual(noViolations);
    expect(await cellOf(cluster, project)).toBe("east");
    expect(await rowsOf(cluster, "main", project)).toEqual({});
    const after = await rowsOf(cluster, "east", project);
    const { run_events: _, ...known } = withoutChangingTables(before);
    for (const [table, rows] of Object.entries(known)) expect([table, after[table]! >= rows]).toEqual([table, true]);
    await stream.rest();
    expect([stream.ending(), stream.comments.at(-1), stream.frames.at(-1)!.event]).toEqual([
      "ended",
      "closing",
      "run.requires_action",
    ]);
    await using goesOn = await read(waiting[0]!.id, stream.lastId());
    expect((await asked).object).toBe("run");
    await waitUntil(async () => isOver(await ask(main, `/v1/runs/${(await asked).id}`, key)));
    expect(slow.callsOf("/slow/1500").length).toBe(1);

    for (const url of [main, east, spare]) {
      expect((await ask(url, "/v1/me", key)).project).toBe("default");
      expect((await requestWithRetry(url, "/v1/me", revoked.secret ?? revoked.key)).status).toBe(401);
      const content = await ask(url, `/v1/files/${file.id}/content`, key);
      expect(content.length).toBe(600_000);
      const found = await post(url, `/v1/memory/${memory.id}/search`, key, { query: "When is Bergen closed?" });
      expect(found.data.map(({ text }: Json) => text)).toEqual(["The office in Bergen is closed on Mondays."]);
    }
    const [client, approval] = waiting as [Json, Json];
    const callOf = (run: Json) => run.required_action.submit_tool_outputs.tool_calls[0].tool_call_id;
    await post(spare, `/v1/runs/${client.id}/submit_tool_outputs`, key, {
      tool_outputs: [{ tool_call_id: callOf(client), output: "yes" }],
    });
    await post(main, `/v1/runs/${approval.id}/submit_tool_outputs`, key, {
      tool_outputs: [{ tool_call_id: callOf(approval), decision: "approve" }],
    });
    for (const { id } of waiting) await waitUntil(async () => isOver(await ask(spare, `/v1/runs/${id}`, key)));
    expect((await ask(spare, `/v1/runs/${client.id}`, key)).output).toBe("All of it is done.");
    await goesOn.until("run.completed");
    const seqs = [...stream.frames, ...goesOn.frames]
      .filter(({ event }) => event !== "token")
      .map(({ data }) => data.seq);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    hooks.answerWith(() => new Response("Taken."));
    await waitUntil(() => clients.every((each) => hooks.received.some(({ body }) => body.includes(each.id()))));
    // The search index is rebuilt afterwards.
    await waitUntil(async () =>
      (await ask(main, "/v1/search?q=go", key)).data.some(({ id }: Json) => id === client.id),
    );

    // A refusal is one line.
    const refusals = [
      [["nowhere", "--to", "east"], 'There is no project "nowhere"'],
      [["default", "--to", "west"], 'There is no cell "west". This cluster has main, east.'],
      [["default", "--to", "east"], 'default is in the cell "east" already.'],
    ] as const;
    for (const [args, line] of refusals) {
      const { code, stderr } = await tryCommand(cluster, ["projects", "move", ...args]);
      expect([code, stderr.trim().split("\n").length, stderr.includes(line) || stderr]).toEqual([1, 1, true]);
    }
  }, 240_000);

  // Failpoints of the source's leader and of the target's. Each node dies there once.
  const points = [
    "before_move.packed",
    "after_move.packed",
    "mid_move.sent",
    "before_move.cleared",
    "mid_move.cleared",
    "after_move.cleared",
    "before_move.taken",
    "after_move.taken",
    "before_move.in",
    "mid_move.in",
    "after_move.in",
  ];
  test.each(points)(
    "kill -9 at %s leaves one copy, and every run ends once",
    async (failpoint) => {
      await using cluster = await startCluster({ nodes: 4, ...ownCells(), failpoint, postgres });
      await using tools = startTools();
      const { project, runs } = await begin(cluster, tools.url);
      // If the leader died, the command does not know its result.
      await waitUntil(async () => {
        const { code, stderr } = await move(cluster, project);
        return code === 0 || /is in the cell .* already/.test(stderr);
      });
      expect(await runs.ended(tools)).toEqual(noViolations);
      expect(cluster.nodes.flatMap(({ codes }) => codes).length).toBeGreaterThan(0);
      await expectOneCopy(cluster, project, cellsOf(cluster)[1]);
    },
    180_000,
  );

  test.each(["before_move.undone", "after_move.undone"])(
    "kill -9 at %s, where the other cell cannot accept the project, leaves it in place, and every run ends once",
    async (failpoint) => {
      // Its run is held in a step, so no other node may take the cell meanwhile.
      await using cluster = await startCluster({ nodes: 4, ...ownCells(), failpoint, postgres, lease_s: 10 });
      await using tools = startTools();
      const { promise: told, resolve: tell } = Promise.withResolvers<void>();
      await using slow = startWebhookReceiver(() => told.then(() => Response.json({ done: true })));
      const { project, runs } = await begin(cluster, tools.url);
      const { main } = await bothLed(cluster);
      const key = cluster.keys.test;
      const tool = await post(main, "/v1/tools", key, { name: "slow", url: slow.url });
      const agent = await post(main, "/v1/agents", key, {
        name: "slow",
        instructions: "",
        model: "test/script",
        tools: [tool.id],
        model_settings: { script: [{ tool_calls: [{ name: "slow", arguments: {} }] }, { text: "done" }] },
      });
      const run = await post(main, "/v1/runs", key, { agent_id: agent.id, input: "Go." });
      await slow.heard(1);
      const impatient = await move(cluster, project, "--within", "1");
      expect([impatient.code, impatient.stderr]).toEqual([
        1,
        expect.stringMatching(/default stays: after 1 s runs are still in a step \(\d\)\./),
      ]);
      const moving = move(cluster, project);
      // Before its run finishes its step, another project takes its name in the other cell.
      await waitUntil(async () => {
        const moves = await sqlAt(cluster.engine(), `SELECT id FROM runnel_moves WHERE project = '${project}'`);
        return moves.length === 1;
      });
      expect((await move(cluster, project)).stderr).toContain("default is being moved already.");
      const { stdout } = await runCommand(["cluster", "status", "--cluster", cluster.url], { env: cleaned() });
      expect(stdout).toContain(
        `default is being moved from ${cellsOf(cluster).join(" to ")}: its runs come to the end`,
      );
      await command(cluster, ["projects", "create", "default"]);
      tell();
      expect((await moving).code).not.toBe(0);
      expect(await runs.ended(tools)).toEqual(noViolations);
      await waitUntil(async () => isOver(await ask(cluster.nodes[0]!.url, `/v1/runs/${run.id}`, key)));
      expect((await ask(cluster.nodes[0]!.url, `/v1/runs/${run.id}`, key)).output).toBe("done");
      expect(slow.received.length).toBe(1);
      expect(cluster.nodes.flatMap(({ codes }) => codes).length).toBeGreaterThan(0);
      await expectOneCopy(cluster, project, cellsOf(cluster)[0]);
    },
    180_000,
  );
});
