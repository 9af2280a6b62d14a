import type { Load, Measured } from "./load.ts";
import { measure, memory, processorTime } from "./processes.ts";
import type { Product } from "./product.ts";

/** What one round puts side by side. */
export interface Systems {
  product: Product;
  /** The same executable with its data in memory. */
  volatile: Product;
  hello: string;
  read: string;
  pipe: { url: string; pid: number };
  model: string;
  ca?: string;
}

/** Everything that a round measures, by name; the table is made of medians of these. */
export type Figures = Record<string, number>;

const charactersPerToken = 5; // Of the model's words, their space included.
const streamed = "t200-d5";
const burst = "t2000-d0";

/** One round over all systems. `scale` shortens it. */
export async function measureRound(systems: Systems, scale: number): Promise<Figures> {
  const ms = 2000 * scale;
  return {
    ...(await reads(systems, ms)),
    ...(await runs(systems, ms)),
    ...(await pacedStreams(systems, 20, 20 * Math.ceil(2 * scale))),
    ...(await pacedStreams(systems, 200, 200 * Math.ceil(2 * scale))),
    ...(await bursts(systems, ms)),
    ...(await readsUnderLoad(systems, ms)),
  };
}

async function reads({ product, hello, read, ca }: Systems, duration_ms: number): Promise<Figures> {
  const request = await product.read();
  const bare = { url: `${read}/agents/agt_1`, ca };
  await measure({ ...request, connections: 32, duration_ms: duration_ms / 4 });
  const yardstick = await measure({ ...bare, connections: 32, duration_ms });
  const ours = await measure({ ...request, connections: 32, duration_ms });
  const helloAlone = await measure({ url: hello, ca, connections: 1, duration_ms: duration_ms / 2 });
  const oursAlone = await measure({ ...request, connections: 1, duration_ms: duration_ms / 2 });
  return {
    "read.ours": ours.perSecond,
    "read.bare": yardstick.perSecond,
    "read.over_hello_us": (oursAlone.p50 - helloAlone.p50) * 1000,
  };
}

async function runs({ product, volatile, model }: Systems, duration_ms: number): Promise<Figures> {
  const alone = modelCall(model, "t1-d0");
  const one = await product.run("t1-d0");
  const inMemory = await volatile.run("t1-d0");
  const tool = await product.run("t1-d0-tool");
  await measure({ ...one, connections: 4, duration_ms: duration_ms / 4 });
  const modelAlone = await measure({ ...alone, connections: 1, duration_ms: duration_ms / 2 });
  const single = await measure({ ...one, connections: 1, duration_ms: duration_ms / 2 });
  const withTool = await measure({ ...tool, connections: 1, duration_ms: duration_ms / 2 });
  const many = await measure({ ...one, connections: 32, duration_ms });
  const manyInMemory = await measure({ ...inMemory, connections: 32, duration_ms });
  return {
    "run.over_model_ms": single.p50 - modelAlone.p50,
    "run.tool_ratio": withTool.p50 / single.p50,
    "run.p99": many.p99,
    "run.per_second": many.perSecond,
    "run.durable_part": many.perSecond / manyInMemory.perSecond,
  };
}

/** Streams at five milliseconds a token: what the server adds to the model's own pace, and what it costs. */
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
    [`${name}.first_over_ms`]: ours.first50 - alone.first50,
    [`${name}.first99_ratio`]: ours.first99 / alone.first99,
    [`${name}.total_over_percent`]: (ours.p50 / alone.p50 - 1) * 100,
    [`${name}.bytes_per_token`]: ours.bytes / tokens(ours),
    [`${name}.time_ratio`]: ourTime / tokens(ours) / (pipeTime / tokens(piped)),
    [`${name}.mib_per_stream`]: (peak - before) / connections,
  };
}

/** Streams without any delay: how many tokens a second come out. */
async function bursts({ product, volatile }: Systems, duration_ms: number): Promise<Figures> {
  const ours = await measure({ ...(await product.stream(burst)), connections: 20, duration_ms });
  const inMemory = await measure({ ...(await volatile.stream(burst)), connections: 20, duration_ms });
  const rate = (measured: Measured) => (tokens(measured) / measured.elapsed_ms) * 1000;
  return {
    "burst.tokens_per_second": rate(ours),
    "burst.durable_part": rate(ours) / rate(inMemory),
    "burst.bytes_per_token": ours.bytes / tokens(ours),
  };
}

/** The same work on a server with few stored runs and on one with many: what the ratios say is the growth. */
export async function measureGrowth({ few, many }: { few: Product; many: Product }, ms: number): Promise<Figures> {
  const figures: Figures = {};
  const loads: [string, (product: Product) => Promise<Omit<Load, "connections">> | Omit<Load, "connections">][] = [
    ["read", (product) => product.read()],
    ["list", (product) => product.list()],
    ["write", (product) => product.write()],
    ["run", (product) => product.run("t1-d0")],
    ["stream", (product) => product.stream("t200-d0")],
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

async function timed(pid: number, load: Load): Promise<[Measured, number]> {
  const before = processorTime(pid);
  const measured = await measure(load);
  return [measured, processorTime(pid) - before];
}

const tokens = ({ characters }: Measured): number => characters / charactersPerToken;

const modelCall = (model: string, name: string) => ({
  url: `${model}/v1/chat/completions`,
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ model: name, stream: true, messages: [{ role: "user", content: "Go." }] }),
});
