import type { Json } from "../harness.ts";
import { inTime } from "../until.ts";
import { type Cluster, startCluster, ttl_s } from "./nodes.ts";

/** What must be zero. */
interface Counters {
  /** Runs that a client was told of and that are not there, or never ended. */
  lost: number;
  /** Calls of tools that came once more though a client had been told that they were done. */
  repeated: number;
  /** Calls that may not be repeated and came twice. */
  unsafe: number;
  /** Events that are missing in a run's record, or that a stream has told otherwise. */
  gaps: number;
}

interface StormOptions {
  program?: string;
  runs: number;
  kills: number;
  pauses: number;
  failovers: number;
}

const turns = 5;
const patience_ms = 120_000;

/** Ends leaders in every way while clients start runs of six model calls and five tool calls through any node. */
export async function stormCluster({ program, runs, kills, pauses, failovers }: StormOptions) {
  await using tools = startTools();
  await using cluster = await startCluster({ program });
  const agent_id = await createAgent(cluster, tools.url);
  const clients: Client[] = [];
  const ways = [
    ...Array.from({ length: kills }, () => killed),
    ...Array.from({ length: pauses }, () => paused),
    ...Array.from({ length: failovers }, () => failedOver),
  ];
  const takeovers_ms: number[] = [];
  const following: Promise<void>[] = [];
  for (const [round, way] of ways.entries()) {
    for (; clients.length < (runs * (round + 1)) / ways.length; ) {
      const client = createClient(cluster, agent_id, `run ${clients.length}`);
      clients.push(client);
      following.push(client.follow());
    }
    await Bun.sleep(50 + Math.random() * 400); // The random instant is the test.
    const begun = performance.now();
    await way(cluster);
    await cluster.serves();
    if (way === killed) takeovers_ms.push(Math.round(performance.now() - begun));
  }
  await inTime(Promise.all(following), "every run ends", patience_ms);
  const counters: Counters = { lost: 0, repeated: 0, unsafe: tools.unsafe(), gaps: 0 };
  for (const client of clients) {
    const record = await recordOf(cluster, client.id());
    if (record?.run.status !== "completed") counters.lost++;
    counters.gaps += record?.seqs.filter((seq, index) => seq !== index + 1).length ?? 0;
    counters.gaps += client.seqs().filter((seq, index) => seq !== index + 1).length;
    counters.repeated += tools.calledAfter(client.done);
  }
  const codes = cluster.nodes.flatMap((node) => node.codes);
  const figures = {
    ...{ runs: clients.length, kills, pauses, failovers, takeovers_ms, calls: tools.count() },
    fenced: codes.filter((code) => code === 75).length,
    refused: clients.reduce((sum, client) => sum + client.refused(), 0),
    broken_streams: clients.reduce((sum, client) => sum + client.streams() - 1, 0),
  };
  return { counters, figures, logs: cluster.logs() };
}

async function killed(cluster: Cluster): Promise<void> {
  const { child } = await cluster.leader();
  await cluster.cut();
  child.kill("SIGKILL");
  await child.exited;
}

/** Longer than its lease: another node leads when it wakes up, and it has to end. */
async function paused(cluster: Cluster): Promise<void> {
  const { child } = await cluster.leader();
  child.kill("SIGSTOP");
  await Bun.sleep(ttl_s * 1000 + 1500);
  await cluster.leader();
  child.kill("SIGCONT");
  await inTime(child.exited, "a leader that was paused ends");
}

const failedOver = (cluster: Cluster): Promise<void> => cluster.failEngineOver();

async function createAgent(cluster: Cluster, url: string): Promise<string> {
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
function startTools() {
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

/** Starts one run, and reads its stream to its end through whichever node answers. */
function createClient(cluster: Cluster, agent_id: string, label: string) {
  const seqs: number[] = [];
  /** When it was told of each call that it is done. */
  const done = new Map<string, number>();
  let [id, lastId, refused, streams, isOver] = ["", "", 0, 0, false];
  const anyNode = () => cluster.nodes[Math.floor(Math.random() * cluster.nodes.length)]!.url;

  async function begin(): Promise<void> {
    const body = JSON.stringify({ agent_id, input: label });
    while (id === "") {
      const headers = { "idempotency-key": label };
      const answer = await cluster.request(anyNode(), "/v1/runs", { method: "POST", body, headers }).catch(() => null);
      if (answer?.status === 201) id = (await answer.json().catch(() => ({ id: "" }))).id;
      else if (answer && answer.status !== 503 && answer.status !== 409) throw new Error(await answer.text());
      if (id === "") {
        refused++;
        await Bun.sleep(50);
      }
    }
  }

  function take(block: string): void {
    const fields = new Map(block.split("\n").map((line) => line.split(/: (.*)/s, 2) as [string, string]));
    const [event, data] = [fields.get("event"), fields.get("data")];
    if (!event || !data) return;
    lastId = fields.get("id") ?? lastId;
    if (event === "token") return;
    const { seq, tool_call_id } = JSON.parse(data);
    if (typeof seq !== "number") return; // The stream says why it ends.
    seqs.push(seq);
    if (event === "tool.completed") done.set(tool_call_id, performance.now());
    isOver ||= /^run\.(completed|failed|cancelled)$/.test(event);
  }

  async function read(): Promise<void> {
    const headers = { accept: "text/event-stream", ...(lastId && { "last-event-id": lastId }) };
    const answer = await cluster.request(anyNode(), `/v1/runs/${id}/events`, { headers });
    isOver ||= answer.status === 404; // It was acknowledged, and is not there.
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
    seqs: () => seqs,
    refused: () => refused,
    streams: () => streams,
    async follow(): Promise<void> {
      await begin();
      while (!isOver) await read().catch(() => Bun.sleep(50));
    },
  };
}

/** A run and the numbers of its events, as the leader has them now; null when it is not there. */
async function recordOf(cluster: Cluster, id: string) {
  const { url } = await cluster.leader();
  const answer = await cluster.request(url, `/v1/runs/${id}`);
  if (!answer.ok) return null;
  const run: Json = await answer.json();
  const stream = await cluster.request(url, `/v1/runs/${id}/events`, { headers: { accept: "text/event-stream" } });
  const seqs = [...(await stream.text()).matchAll(/^event: (?!token)[^\n]*\ndata: (.*)$/gm)].map(([, data]) => {
    return JSON.parse(data!).seq as number;
  });
  return { run, seqs };
}
