import type { Json } from "../harness.ts";
import { inTime } from "../until.ts";
import { type Cluster, type ClusterOptions, startCluster, ttl_s } from "./nodes.ts";

/** What must be zero, each with what it counts. */
export const clusterCounters = {
  lost: "runs that a client was told of and that are not there, or never ended",
  repeated: "calls of tools that came once more though a client had been told that they were done",
  unsafe: "calls that may not be repeated and came twice",
  gaps: "events that are missing in a run's record, or that a stream has told otherwise",
  unfenced: "leaders that were paused for longer than their lease and answered after",
  refused: "answers that no client should get",
  damaged: "databases that a node found damaged",
} as const;

export type ClusterCounter = keyof typeof clusterCounters;

export type Way = "killed" | "unheard" | "paused" | "failedOver";

interface StormOptions extends ClusterOptions {
  runs: number;
  /** How leaders end, one after the other. */
  ways: readonly Way[];
  /** Ends the storm as soon as one of these is not zero. */
  until?: readonly ClusterCounter[];
}

const turns = 5;
const patience_ms = 120_000;

/** Ends leaders in every way while clients start runs of six model calls and five tool calls through any node. */
export async function stormCluster({ runs, ways, until, ...options }: StormOptions) {
  await using tools = startTools();
  await using cluster = await startCluster(options);
  const agent_id = await createAgent(cluster, tools.url);
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
    refused: sum((client) => client.wrong()),
    damaged: cluster.logs().match(/is damaged|malformed/g)?.length ?? 0,
  });
  const isCaught = (): boolean => until?.some((name) => counted()[name] > 0) ?? false;

  for (const [round, way] of ways.entries()) {
    await Bun.sleep(250 + Math.random() * 500); // The random instant is the test.
    // While commits wait, a lease that is renewed does not show.
    const leader = await cluster.leader();
    const release = way === "unheard" ? cluster.holdCommits() : null;
    for (; clients.length < (runs * (round + 1)) / ways.length; ) {
      const client = createClient(cluster, agent_id, `run ${clients.length}`);
      clients.push(client);
      following.push(client.follow());
    }
    await Bun.sleep(release ? held_ms : 100);
    const begun = performance.now();
    if (way === "paused") unfenced += await paused(cluster, leader);
    else if (way === "failedOver") await cluster.failEngineOver();
    else {
      // A leader whose connection is cut sends anew what it has: it must not when nobody was to hear of it.
      if (way === "killed") await cluster.cut();
      await killed(leader, round % 2 === 0);
    }
    release?.();
    await cluster.serves(isCaught);
    if (way === "killed") takeovers_ms.push(Math.round(performance.now() - begun));
    if (isCaught()) break;
  }
  if (until) {
    for (const client of clients) client.stop();
  } else await inTime(Promise.all(following), "every run ends", patience_ms);
  const counters = counted();
  for (const client of until ? [] : clients) {
    const record = await recordOf(cluster, client.id());
    if (record?.run.status !== "completed") counters.lost++;
    const told = client.told();
    for (const events of [record?.events ?? told, told])
      counters.gaps += [...events.keys()].filter((seq, index) => seq !== index + 1).length;
    counters.gaps += [...told].filter(([seq, text]) => record && record.events.get(seq) !== text).length;
  }
  const codes = cluster.nodes.flatMap((node) => node.codes);
  const figures = {
    ...{ runs: clients.length, rounds: ways.length, takeovers_ms, calls: tools.count() },
    fenced: codes.filter((code) => code === 75).length,
    waited: sum((client) => client.waited()),
    broken_streams: sum((client) => client.streams() - 1),
  };
  return { counters, figures, logs: cluster.logs() };
}

type Leader = Awaited<ReturnType<Cluster["leader"]>>;

/** Shorter than a lease: who leads goes on to lead, and hears nothing. */
const held_ms = 600;

/** Every other one leaves its database to the next process. */
async function killed(leader: Leader, keepsData: boolean): Promise<void> {
  leader.keepsData = keepsData;
  const { child } = leader;
  child.kill("SIGKILL");
  await child.exited;
}

/** Longer than its lease: another node leads when it wakes up, and it has to end. Returns 1 when it does not. */
async function paused(cluster: Cluster, { child, url }: Leader): Promise<number> {
  child.kill("SIGSTOP");
  await Bun.sleep(ttl_s * 1000 + 1500);
  await cluster.leader();
  child.kill("SIGCONT");
  const leads = await fetch(`${url}/healthz`)
    .then(async (answer) => answer.ok && (await answer.json()).status !== "spare")
    .catch(() => false);
  if (leads && child.exitCode === null) {
    child.kill("SIGKILL");
    return 1;
  }
  await inTime(child.exited, "a leader that was paused ends");
  return 0;
}

export async function createAgent(cluster: Cluster, url: string): Promise<string> {
  const create = async (path: string, body: object): Promise<Json> => {
    const answer = await cluster.request(cluster.nodes[1]!.url, path, { method: "POST", body: JSON.stringify(body) });
    if (answer.status !== 201) throw new Error(await answer.text());
    return await answer.json();
  };
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

/** Tools that note each call, by its key and its time. */
export function startTools() {
  const calls: { path: string; key: string; at: number }[] = [];
  const server = Bun.serve({
    ...{ port: 0, hostname: "127.0.0.1" },
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
    /** Calls that came after somebody was told that they were done. */
    calledAfter: (done: ReadonlyMap<string, number>): number =>
      calls.filter(({ key, at }) => at > (done.get(key) ?? Number.POSITIVE_INFINITY)).length,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

type Client = ReturnType<typeof createClient>;

/** Starts one run, and reads its stream to its end through whichever node answers, again and again another one. */
export function createClient(cluster: Cluster, agent_id: string, label: string) {
  /** What it was told of each event. */
  const told = new Map<number, string>();
  /** When it was told of each call that it is done. */
  const done = new Map<string, number>();
  let [id, lastId, waited, streams, wrong, otherwise, isMissing, isOver] = ["", "", 0, 0, 0, 0, false, false];
  const anyNode = () => cluster.nodes[Math.floor(Math.random() * cluster.nodes.length)]!.url;

  async function begin(): Promise<void> {
    const body = JSON.stringify({ agent_id, input: label });
    while (id === "" && !isOver) {
      const headers = { "idempotency-key": label };
      const answer = await cluster.request(anyNode(), "/v1/runs", { method: "POST", body, headers }).catch(() => null);
      if (answer?.status === 201) id = (await answer.json().catch(() => ({ id: "" }))).id;
      else if (answer && answer.status !== 503 && answer.status !== 409) wrong++;
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
    const { seq, tool_call_id } = JSON.parse(data);
    if (typeof seq !== "number") return; // The stream says why it ends.
    const text = `${event} ${data}`;
    if ((told.get(seq) ?? text) !== text) otherwise++;
    told.set(seq, text);
    if (event === "tool.completed" && !done.has(tool_call_id)) done.set(tool_call_id, performance.now());
    isOver ||= /^run\.(completed|failed|cancelled)$/.test(event);
  }

  async function read(): Promise<void> {
    const headers = { accept: "text/event-stream", ...(lastId && { "last-event-id": lastId }) };
    const signal = AbortSignal.timeout(100 + Math.random() * 300);
    const answer = await cluster.request(anyNode(), `/v1/runs/${id}/events`, { headers, signal });
    isMissing ||= answer.status === 404; // It was acknowledged, and is not there.
    isOver ||= isMissing;
    if (!answer.ok && ![404, 503].includes(answer.status)) wrong++;
    if (!answer.ok) throw new Error(await answer.text());
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
      while (!isOver) await read().catch(() => Bun.sleep(50));
    },
  };
}

/** A run and its events by their numbers, as the leader has them now; null when it is not there. */
export async function recordOf(cluster: Cluster, id: string) {
  const [run, stream] = [`/v1/runs/${id}`, `/v1/runs/${id}/events`].map((path) => answered(cluster, path));
  const [found, record] = [await run!, await stream!];
  if (found.status === 404) return null;
  const events = new Map<number, string>();
  for (const { event, data } of (await record.text()).split("\n\n").map(fieldsOf))
    if (event && data && event !== "token") events.set(JSON.parse(data).seq, `${event} ${data}`);
  return { run: (await found.json()) as Json, events };
}

/** What the leader says, once there is one that the engine answers. */
async function answered(cluster: Cluster, path: string): Promise<Response> {
  const headers = { accept: path.endsWith("/events") ? "text/event-stream" : "application/json" };
  for (;;) {
    const { url } = await cluster.leader();
    const answer = await cluster.request(url, path, { headers }).catch(() => null);
    if (answer && answer.status !== 503) return answer;
    await Bun.sleep(50);
  }
}

const fieldsOf = (block: string): { id?: string; event?: string; data?: string } =>
  Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s, 2)));
