import { sqlAt } from "../../server/testing/postgres.ts";
import { startWebhookReceiver } from "../../server/testing/webhook-receiver.ts";
import type { Json } from "../harness.ts";
import { waitUntil as once, withTimeout } from "../until.ts";
import { type Cluster, type ClusterOptions, startCluster, ttl_s } from "./nodes.ts";
import { bothLed, command, post, requestWithRetry } from "./requests.ts";

/** Violations that must be zero, each with its meaning. */
export const clusterCounters = {
  lost: "runs that a client was told of and that are not there, or never ended",
  repeated: "calls of tools that came once more though a client had been told that they were done",
  unsafe: "calls that may not be repeated and came twice",
  gaps: "events that are missing in a run's record, or that a stream has told otherwise",
  unfenced: "leaders that were paused for longer than their lease and answered after",
  refused: "answers that no client should get",
  unheard: "runs that ended, and whose webhook never came",
  revoked: "requests that were let in by a key that somebody was told is revoked",
  damaged: "databases that a node found damaged",
} as const;

export type ClusterCounter = keyof typeof clusterCounters;

/** `returned`: killed, and the next process keeps the data directory; otherwise its folder is deleted. */
export type LeaderFault = "killed" | "returned" | "unheard" | "paused" | "failedOver";

interface StormOptions extends ClusterOptions {
  runs: number;
  /** Ways in which leaders end, in order. */
  ways: readonly LeaderFault[];
  /** Ends the storm as soon as one of these is not zero. */
  until?: readonly ClusterCounter[];
}

const turns = 5;
const patience_ms = 120_000;

/**
 * Ends leaders in every way, of alternating cells, while clients start runs of six model calls and five tool calls
 * through any node.
 */
export async function stormCluster({ runs, ways, until, ...options }: StormOptions) {
  await using tools = startTools();
  await using hooks = startWebhookReceiver();
  await using cluster = await startCluster(options);
  const tenants = await startTenants(cluster, tools.url, hooks.url);
  const clients: Client[] = [];
  const takeovers_ms: number[] = [];
  const following: Promise<void>[] = [];
  let unfenced = 0;

  const sum = (count: (client: Client) => number) => clients.reduce((sum, client) => sum + count(client), 0);
  const counted = (): Record<ClusterCounter, number> => ({
    lost: sum((client) => Number(client.isMissing())),
    repeated: sum((client) => tools.calledAfter(client.done)),
    unsafe: tools.unsafe(),
    gaps: sum((client) => client.otherwise()),
    unfenced,
    refused: sum((client) => client.wrong().length),
    unheard: 0,
    revoked: tenants.reduce((sum, { keys }) => sum + keys.letIn(), 0),
    damaged: cluster.logs().match(/is damaged|malformed/g)?.length ?? 0,
  });
  const isCaught = (): boolean => until?.some((name) => counted()[name] > 0) ?? false;

  for (const [round, way] of ways.entries()) {
    await Bun.sleep(250 + Math.random() * 500); // The random instant is the test.
    // Two rounds per cell, because the ways alternate as well.
    const { cell, key, keys } = tenants[Math.floor(round / 2) % tenants.length]!;
    // A renewed lease is not visible while commits are blocked.
    const leader = await cluster.leader(cell);
    const release = way === "unheard" ? cluster.holdCommits() : null;
    for (; clients.length < (runs * (round + 1)) / ways.length; ) {
      const { agent_id, key } = tenants[clients.length % tenants.length]!;
      const client = createClient(cluster, agent_id, `run ${clients.length}`, key);
      clients.push(client);
      following.push(client.follow());
    }
    const revoking = until ? null : keys.revokeOne();
    await Bun.sleep(release ? held_ms : 100);
    const begun = performance.now();
    if (way === "paused") unfenced += await pauseLeader(cluster, leader, cell);
    else if (way === "failedOver") await cluster.failEngineOver();
    else {
      // After a cut a leader resends its pending commits; in `unheard` Postgres must never get them.
      if (way !== "unheard") await cluster.cut(cell);
      await killed(leader, way === "returned");
    }
    release?.();
    await cluster.serves(key, isCaught);
    if (way === "killed" || way === "returned") takeovers_ms.push(Math.round(performance.now() - begun));
    await revoking;
    await keys.tryRevoked(3);
    if (isCaught()) break;
  }
  if (until) {
    for (const client of clients) client.stop();
  } else await withTimeout(Promise.all(following), "every run ends", patience_ms);
  for (const { keys } of tenants) await keys.tryRevoked();
  const counters = counted();
  for (const client of until ? [] : clients) {
    const record = await recordOf(cluster, client.id(), client.key);
    if (record?.run.status !== "completed") counters.lost++;
    const told = client.told();
    for (const events of [record?.events ?? told, told])
      counters.gaps += [...events.keys()].filter((seq, index) => seq !== index + 1).length;
    counters.gaps += [...told].filter(([seq, text]) => record && record.events.get(seq) !== text).length;
  }
  if (!until) {
    const unheard = () =>
      clients.filter((client) => !hooks.received.some(({ body }) => body.includes(client.id()))).length;
    await once(() => unheard() === 0).catch(() => {});
    counters.unheard = unheard();
  }
  const codes = cluster.nodes.flatMap((node) => node.codes);
  const figures = {
    runs: clients.length,
    rounds: ways.length,
    takeovers_ms,
    calls: tools.count(),
    cells: tenants.length,
    fenced: codes.filter((code) => code === 75).length,
    waited: sum((client) => client.waited()),
    broken_streams: sum((client) => client.streams() - 1),
    webhooks: hooks.received.length,
    revoked_keys: tenants.reduce((sum, { keys }) => sum + keys.revoked(), 0),
  };
  return { counters, figures, logs: cluster.logs() };
}

/** Creates one project per cell, with a webhook for its run events. */
async function startTenants(cluster: Cluster, toolsUrl: string, hooksUrl: string) {
  const cells = cluster.cell.split(",");
  if (cells.length > 1) await bothLed(cluster);
  const tenants = [];
  for (const [n, cell] of cells.entries()) {
    const name = `storm-${n}`;
    let key: string = cluster.keys.test;
    if (n > 0) {
      await command(cluster, ["projects", "create", name]);
      const [row] = await sqlAt(cluster.engine(), `SELECT cell FROM runnel_projects WHERE name = '${name}'`);
      if (row.cell !== cell) throw new Error(`A project that is made second is in ${row.cell}, and not in ${cell}.`);
      key = await command(cluster, ["keys", "create", "--project", name, "--scopes", "admin"]);
    }
    await post(cluster.nodes[1]!.url, "/v1/webhooks", key, { url: hooksUrl, events: ["run.completed"] });
    const agent_id = await createAgent(cluster, toolsUrl, key);
    tenants.push({ cell, key, agent_id, keys: createKeys(cluster, key) });
  }
  return tenants;
}

/** Creates and revokes keys through any node. */
function createKeys(cluster: Cluster, admin: string) {
  const revoked: string[] = [];
  let letIn = 0;
  const anyNode = () => cluster.nodes[Math.floor(Math.random() * cluster.nodes.length)]!.url;
  return {
    revoked: () => revoked.length,
    letIn: () => letIn,
    async revokeOne(): Promise<void> {
      const { id, secret } = await post(anyNode(), "/v1/api_keys", admin, { name: "short-lived", scopes: ["read"] });
      const { status } = await requestWithRetry(anyNode(), `/v1/api_keys/${id}`, admin, { method: "DELETE" });
      // 404: the earlier attempt succeeded, and its response was lost.
      if (status !== 200 && status !== 404) throw new Error(`A key is not revoked: ${status}`);
      revoked.push(secret);
    },
    /** Sends requests with the newest revoked keys, by default with all. */
    async tryRevoked(newest = revoked.length): Promise<void> {
      for (const secret of revoked.slice(Math.max(0, revoked.length - newest))) {
        const headers = { authorization: `Bearer ${secret}` };
        const answer = await cluster.request(anyNode(), "/v1/me", { headers }).catch(() => null);
        if (answer?.ok) letIn++;
      }
    },
  };
}

type Leader = Awaited<ReturnType<Cluster["leader"]>>;

/** Milliseconds, shorter than a lease: the leader stays leader, and gets no acknowledgement. */
const held_ms = 600;

async function killed(leader: Leader, keepsData: boolean): Promise<void> {
  leader.keepsData = keepsData;
  const { child } = leader;
  child.kill("SIGKILL");
  await child.exited;
}

/**
 * Pauses a leader for longer than its lease: another node leads when it wakes up, so it must exit. Returns 1 if it does
 * not.
 */
async function pauseLeader(cluster: Cluster, { child, url }: Leader, cell: string): Promise<number> {
  child.kill("SIGSTOP");
  await Bun.sleep(ttl_s * 1000 + 1500);
  // Postgres may have renewed its lease during the pause.
  await once(async () => (await cluster.leader(cell)).url !== url);
  child.kill("SIGCONT");
  const leads = await fetch(`${url}/healthz`)
    .then(async (answer) => answer.ok && (await answer.json()).status !== "spare")
    .catch(() => false);
  if (leads && child.exitCode === null) {
    child.kill("SIGKILL");
    return 1;
  }
  await withTimeout(child.exited, "a leader that was paused ends");
  return 0;
}

export async function createAgent(cluster: Cluster, url: string, key: string = cluster.keys.test): Promise<string> {
  const create = (path: string, body: object): Promise<Json> => post(cluster.nodes[1]!.url, path, key, body);
  const parameters = { type: "object", properties: { n: { type: "integer" } } };
  const tool = { description: "Counts.", parameters };
  const safe = await create("/v1/tools", { ...tool, name: "safe", url: `${url}/safe`, idempotent: true });
  const once = { ...tool, name: "once", url: `${url}/once`, idempotent: false, on_unknown: "report" };
  const script = Array.from({ length: turns }, (_, n) => ({
    tool_calls: [{ name: n % 2 === 0 ? "safe" : "once", arguments: { n } }],
  }));
  const model_settings = { script: [...script, { text: "all of it is done", delta_ms: 5 }] };
  const tools = [safe.id, (await create("/v1/tools", once)).id];
  const agent = { name: "Counter", instructions: "Count.", model: "test/script", model_settings, tools };
  return (await create("/v1/agents", agent)).id;
}

/** Starts tools that record each call by its key and its time. */
export function startTools() {
  const calls: { path: string; key: string; at: number }[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      calls.push({
        path: new URL(request.url).pathname,
        key: request.headers.get("idempotency-key") ?? "",
        at: performance.now(),
      });
      await Bun.sleep(20);
      return Response.json({ done: true });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    count: () => calls.length,
    unsafe(): number {
      const once = calls.filter(({ path }) => path === "/once");
      return once.length - new Set(once.map(({ key }) => key)).size;
    },
    /** Counts calls that came after a client was told of their completion. */
    calledAfter: (done: ReadonlyMap<string, number>): number =>
      calls.filter(({ key, at }) => at > (done.get(key) ?? Number.POSITIVE_INFINITY)).length,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

type Client = ReturnType<typeof createClient>;

/** Starts one run, and reads its stream to its end through whichever node responds. */
export function createClient(cluster: Cluster, agent_id: string, label: string, key: string = cluster.keys.test) {
  /** Events received, by seq. */
  const told = new Map<number, string>();
  /** Time of each call's completion event, by call id. */
  const done = new Map<string, number>();
  let [id, lastId, waited, streams, otherwise, isMissing, isOver] = ["", "", 0, 0, 0, false, false];
  /** Grows when a stream is left before it delivered a new event: otherwise a busy machine would never deliver one. */
  let patience = 1;
  /** Responses that a client must never get. */
  const wrong: string[] = [];
  const anyNode = () => cluster.nodes[Math.floor(Math.random() * cluster.nodes.length)]!.url;
  const authorization = `Bearer ${key}`;

  async function begin(): Promise<void> {
    const body = JSON.stringify({ agent_id, input: label });
    while (id === "" && !isOver) {
      const headers = { authorization, "idempotency-key": label };
      const answer = await cluster.request(anyNode(), "/v1/runs", { method: "POST", body, headers }).catch(() => null);
      if (answer?.status === 201) id = (await answer.json().catch(() => ({ id: "" }))).id;
      else if (answer && answer.status !== 503 && answer.status !== 409)
        wrong.push(`${answer.status} ${await answer.text().catch(String)}`);
      if (id === "") {
        waited++;
        await Bun.sleep(50);
      }
    }
  }

  function take(block: string): void {
    const { id: place, event, data } = fieldsOf(block);
    if (!event || !data) return;
    lastId = place ?? lastId;
    if (event === "token") return;
    const { seq, tool_call_id, status } = JSON.parse(data);
    if (typeof seq !== "number") return; // This event says why the stream ends.
    const text = `${event} ${data}`;
    if ((told.get(seq) ?? text) !== text) otherwise++;
    told.set(seq, text);
    // A call with an unknown outcome was never reported as done: a paused leader sends it later.
    if (event === "tool.completed" && status !== "unknown" && !done.has(tool_call_id))
      done.set(tool_call_id, performance.now());
    isOver ||= /^run\.(completed|failed|cancelled)$/.test(event);
  }

  async function read(): Promise<void> {
    const headers = { authorization, accept: "text/event-stream", ...(lastId && { "last-event-id": lastId }) };
    const signal = AbortSignal.timeout((100 + Math.random() * 300) * patience);
    const answer = await cluster.request(anyNode(), `/v1/runs/${id}/events`, { headers, signal });
    isMissing ||= answer.status === 404; // The run was acknowledged, and is missing.
    isOver ||= isMissing;
    if (!answer.ok) {
      const said = `${answer.status} ${await answer.text()}`;
      if (![404, 503].includes(answer.status)) wrong.push(said);
      throw new Error(said);
    }
    streams++;
    const decoder = new TextDecoder();
    let text = "";
    for await (const piece of answer.body!) {
      text += decoder.decode(piece, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop()!;
      blocks.forEach(take);
    }
  }

  return {
    key,
    done,
    id: () => id,
    told: () => told,
    otherwise: () => otherwise,
    isMissing: () => isMissing,
    waited: () => waited,
    wrong: () => wrong,
    stop() {
      isOver = true;
    },
    streams: () => streams,
    async follow(): Promise<void> {
      await begin();
      while (!isOver) {
        const before = lastId;
        await read().catch(() => Bun.sleep(50));
        patience = lastId === before ? Math.min(2 * patience, 64) : 1;
      }
    },
  };
}

/** Returns a run and its events by seq, as its leader stores them; null if missing. */
export async function recordOf(cluster: Cluster, id: string, key: string = cluster.keys.test) {
  const { url } = await cluster.leader();
  const found = await requestWithRetry(url, `/v1/runs/${id}`, key);
  if (found.status === 404) return null;
  const record = await requestWithRetry(url, `/v1/runs/${id}/events`, key, {
    headers: { accept: "text/event-stream" },
  });
  const events = new Map<number, string>();
  for (const { event, data } of (await record.text()).split("\n\n").map(fieldsOf))
    if (event && data && event !== "token") events.set(JSON.parse(data).seq, `${event} ${data}`);
  return { run: (await found.json()) as Json, events };
}

const fieldsOf = (block: string): { id?: string; event?: string; data?: string } =>
  Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s, 2)));
