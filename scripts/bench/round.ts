import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JournalCost } from "./journal.ts";
import type { Load, Measurement } from "./load.ts";
import { storeLongRuns } from "./long-runs.ts";
import { measure, measureReads, median, memory, processorTime, start, threadTimes } from "./processes.ts";
import type { Product } from "./product.ts";

/** Systems that one round compares. */
export interface Systems {
  product: Product;
  hello: string;
  read: { url: string; pid: number };
  pipe: { url: string; pid: number };
  relay: string;
  model: string;
  ca?: string;
}

/** Measurements of a round, by name; the table has their medians. */
export type Figures = Record<string, number>;

const charactersPerToken = 5; // Length of the model's words, space included.
const streamed = "t200-d5";
const burst = "t200-d0";
const shortRuns = 5000;
const warmRuns = 20_000;

/** Measures one round over all systems. `scale` shortens it. */
export async function measureRound(systems: Systems, scale: number): Promise<Figures> {
  const ms = 2000 * scale;
  return {
    ...(await reads(systems, ms)),
    ...(await runs(systems, ms)),
    ...(await journals()),
    ...(await firstTokens(systems)),
    ...(await pacedStreams(systems, 20, 20 * Math.ceil(2 * scale))),
    ...(await pacedStreams(systems, 200, 200 * Math.ceil(2 * scale))),
    ...(await bursts(systems, ms)),
    ...(await readsUnderLoad(systems, ms)),
  };
}

/** Measures the first runs of a fresh server, and then warms it up. */
export async function warmUp({ product }: Pick<Systems, "product">, scale: number): Promise<Figures> {
  const one = { ...(await product.run("t1-d0")), connections: 32 };
  const first = Math.ceil(shortRuns * scale);
  const [measured, time] = await timed(product.pid, { ...one, requests: first });
  await measure({ ...one, requests: Math.ceil(warmRuns * scale) - first });
  return { "run.first_time_us": (time / measured.count) * 1000 };
}

async function reads({ product, hello, read, ca }: Systems, duration_ms: number): Promise<Figures> {
  const request = await product.read();
  await measureReads(product.pid, request, duration_ms / 2);
  const yardstick = await measureReads(read.pid, { url: `${read.url}/agents/agt_1`, ca }, duration_ms);
  const ours = await measureReads(product.pid, request, duration_ms);
  const helloAlone = await measure({ url: hello, ca, connections: 1, duration_ms: duration_ms / 2 });
  const oursAlone = await measure({ ...request, connections: 1, duration_ms: duration_ms / 2 });
  return {
    "read.per_second": ours.perSecond,
    "read.time_us": ours.time_us,
    "read.bare_time_us": yardstick.time_us,
    "read.over_hello_us": (oursAlone.p50 - helloAlone.p50) * 1000,
  };
}

async function runs({ product, relay, model, ca }: Systems, duration_ms: number): Promise<Figures> {
  const alone = modelCall(model, "t1-d0");
  const one = await product.run("t1-d0");
  const tool = await product.run("t1-d0-tool");
  const relayed = { url: relay, ca, method: "POST", body: JSON.stringify({ model: "t1-d0", input: "Go." }) };
  await measure({ ...one, connections: 4, duration_ms: duration_ms / 4 });
  const modelAlone = await measure({ ...alone, connections: 1, duration_ms: duration_ms / 2 });
  const single = await measure({ ...one, connections: 1, duration_ms: duration_ms / 2 });
  const withTool = await measure({ ...tool, connections: 1, duration_ms: duration_ms / 2 });
  const threads = threadTimes(product.pid);
  const [many, time] = await timed(product.pid, { ...one, connections: 32, duration_ms });
  const after = threadTimes(product.pid);
  await measure({ ...relayed, connections: 32, duration_ms: duration_ms / 4 });
  const bare = await measure({ ...relayed, connections: 32, duration_ms });
  const ofThread = (name: string) => (((after.get(name) ?? 0) - (threads.get(name) ?? 0)) / many.count) * 1000;
  return {
    "run.over_model_ms": single.p50 - modelAlone.p50,
    "run.tool_ratio": withTool.p50 / single.p50,
    "run.p99": many.p99,
    "run.per_second": many.perSecond,
    "run.relay_per_second": bare.perSecond,
    "run.time_us": (time / many.count) * 1000,
    ...Object.fromEntries([...after.keys()].map((name) => [`run.thread.${name}`, ofThread(name)])),
  };
}

/** Measures the journal alone: durable at each commit, and in memory. */
async function journals(): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), "runnel-bench-"));
  const costOf = async (path: string): Promise<JournalCost> => {
    const command = [process.execPath, `${import.meta.dir}/journal.ts`, path];
    await using journal = await start<JournalCost>(command, { core: "system" });
    return journal.line;
  };
  const memory = await costOf(":memory:");
  const disk = await costOf(join(folder, "runnel.db"));
  rmSync(folder, { recursive: true });
  return { "journal.time_us": disk.cpu_us, "journal.memory_us": memory.cpu_us, "journal.run_us": disk.run_us };
}

/** Measures the delay of the first token against the model itself: all requests at once, or over a second. */
async function firstTokens({ product, model }: Systems): Promise<Figures> {
  const figures: Figures = {};
  for (const [name, load] of Object.entries({
    "20_at_once": { connections: 20, requests: 20 },
    "200_at_once": { connections: 200, requests: 200 },
    "200_spread": { connections: 200, requests: 200, spread_ms: 1000 },
  })) {
    const alone = await measure({ ...modelCall(model, "t20-d5"), events: "model", ...load });
    const ours = await measure({ ...(await product.stream("t20-d5")), ...load });
    figures[`first.${name}_over_ms`] = ours.first50 - alone.first50;
    figures[`first.${name}_p99_ms`] = ours.first99;
  }
  return figures;
}

/** Measures streams at five milliseconds per token: the server's added delay and its cost. */
async function pacedStreams(systems: Systems, connections: number, requests: number): Promise<Figures> {
  const { product, model, pipe, ca } = systems;
  const load = { connections, requests };
  const alone = await measure({ ...modelCall(model, streamed), events: "model", ...load });
  const before = memory(product.pid);
  let peak = before;
  const watching = setInterval(() => (peak = Math.max(peak, memory(product.pid))), 100);
  const [ours, ourTime] = await timed(product.pid, { ...(await product.stream(streamed)), ...load });
  clearInterval(watching);
  const [piped, pipeTime] = await timed(pipe.pid, { url: `${pipe.url}/${streamed}`, ca, events: "model", ...load });
  const name = `stream${connections}`;
  return {
    [`${name}.total_over_percent`]: (ours.p50 / alone.p50 - 1) * 100,
    [`${name}.bytes_per_token`]: ours.bytes / tokens(ours),
    [`${name}.token_us`]: (ourTime / tokens(ours)) * 1000,
    [`${name}.piped_token_us`]: (pipeTime / tokens(piped)) * 1000,
    [`${name}.mib_per_stream`]: (peak - before) / connections,
  };
}

/** Measures the cost of 200 open streams of a token per second on a fresh server. */
export async function slowStreams({ product }: Pick<Systems, "product">): Promise<Figures> {
  const before = memory(product.pid);
  const streams = measure({ ...(await product.stream("t8-d1000")), connections: 200, requests: 200 });
  await Bun.sleep(6000);
  const open = memory(product.pid);
  await streams;
  return { "slow.mib_per_stream": (open - before) / 200 };
}

/** Measures tokens per second of streams without any delay. */
async function bursts({ product }: Systems, duration_ms: number): Promise<Figures> {
  const ours = await measure({ ...(await product.stream(burst)), connections: 20, duration_ms });
  return { "burst.tokens_per_second": (tokens(ours) / ours.elapsed_ms) * 1000 };
}

/**
 * Measures finished runs of 50 and of 20,000 events: the time to read one, and the delay caused by a list of the long
 * ones.
 */
export async function measureLongRuns(product: Product): Promise<Figures> {
  const [short] = await storeLongRuns(product.database, { runs: 1, calls: 11, output_bytes: 20 });
  const long = await storeLongRuns(product.database, { runs: 20, calls: 5000, output_bytes: 20 });
  const get = (id: string) => product.get(`/v1/runs/${id}?exclude=messages,tool_calls`);
  const each = async (id: string) => (await measure({ ...get(id), connections: 1, requests: 20 })).p50;
  const figures = { "long.get_short_ms": await each(short!), "long.get_ms": await each(long[0]!) };
  const other = { ...product.get("/healthz"), connections: 1, ahead: 300, duration_ms: 1000 };
  const slowest = async () => (await measure(other)).slowest;
  const [alone, beside]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < 3; turn++) {
    alone.push(await slowest()); // The baseline of the machine, and of the server with the stored runs.
    const listed = measure({ ...product.list(), connections: 1, requests: 3 });
    beside.push(await slowest());
    await listed;
  }
  return { ...figures, "long.list_stall_ms": median(beside), "long.alone_stall_ms": median(alone) };
}

/** Measures the same work on a server with few stored runs and on one with many: the ratios are the growth. */
export async function measureGrowth({ few, many }: { few: Product; many: Product }, ms: number): Promise<Figures> {
  const figures: Figures = {};
  const loads: [string, (product: Product) => Promise<Omit<Load, "connections">> | Omit<Load, "connections">][] = [
    ["read", (product) => product.read()],
    ["list", (product) => product.list()],
    ["write", (product) => product.write()],
    ["run", (product) => product.run("t1-d0")],
    ["stream", (product) => product.stream(burst)],
  ];
  for (const [name, load] of loads)
    for (const [size, product] of [
      ["few", few],
      ["many", many],
    ] as const) {
      const request = await load(product);
      await measure({ ...request, connections: 8, duration_ms: ms / 4 });
      figures[`${name}.${size}_ms`] = 1000 / (await measure({ ...request, connections: 8, duration_ms: ms })).perSecond;
    }
  return figures;
}

async function readsUnderLoad({ product }: Systems, duration_ms: number): Promise<Figures> {
  const busy = measure({ ...(await product.stream(burst)), connections: 20, duration_ms });
  const read = await measure({ ...(await product.read()), connections: 1, duration_ms: duration_ms * 0.7 });
  await busy;
  return { "read.p99_under_load": read.p99 };
}

async function timed(pid: number, load: Load): Promise<[Measurement, number]> {
  const before = processorTime(pid);
  const measured = await measure(load);
  return [measured, processorTime(pid) - before];
}

const tokens = ({ characters }: Measurement): number => characters / charactersPerToken;

const modelCall = (model: string, name: string) => ({
  url: `${model}/v1/chat/completions`,
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ model: name, stream: true, messages: [{ role: "user", content: "Go." }] }),
});
