import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../server/testing/free-port.ts";
import { installPython } from "../python-tool.ts";
import { succeeds } from "../tool-folder.ts";
import type { Load, Measurement } from "./load.ts";
import { isPinned, measure, median, memory, start } from "./processes.ts";
import { startProduct } from "./product.ts";
import type { Figures } from "./round.ts";
import { computed_ms, spread } from "./situations.ts";

type Request = Omit<Load, "connections">;

/** A server under test, with its requests for a model of the benchmark. */
interface System {
  pid: number;
  first200_ms: number;
  /** Runs the agent of a model and waits for its end. */
  run(model: string): Promise<Request> | Request;
  /** Runs the agent of a model and reads its stream. */
  stream(model: string): Promise<Request> | Request;
}

interface Peer {
  title: string;
  /** Folder in `peers/` with the server's program and the list of its packages. */
  name: string;
  /** Installs the packages into a folder; returns the command of its server, or null if unavailable. */
  install(folder: string): Promise<string[] | null>;
  /** A path that answers 200 once the server serves. */
  ready: string;
  run(model: string): Request;
  stream(model: string): Request;
}

const [single, paced, burst] = ["t1-d0", "t20-d5", "t200-d0"] as const;
const charactersPerToken = 5; // Length of the model's words, space included.
const tokensOf = (model: string): number => Number(/t(\d+)-/.exec(model)?.[1]);

const json = (url: string, body: object): Request => ({
  url,
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
const form = (url: string, stream: boolean): Request => ({
  url,
  method: "POST",
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body: new URLSearchParams({ message: "Go.", stream: String(stream) }).toString(),
});
/** Each run has a conversation of its own, since a longer one takes longer; Agno begins one by itself. */
const toVoltAgent = { input: "Go.", options: { conversationId: "$REQUEST_ID", userId: "bench" } };
const toMastra = { messages: "Go.", memory: { thread: "$REQUEST_ID", resource: "bench" } };

const peers: Peer[] = [
  {
    title: "VoltAgent",
    name: "voltagent",
    install: installNpm,
    ready: "/agents",
    run: (model) => ({ ...json(`/agents/${model}/text`, toVoltAgent), expect: '"text":" one"' }),
    stream: (model) => ({
      ...json(`/agents/${model}/stream`, toVoltAgent),
      events: "ai-sdk",
      expect: '"type":"finish"',
    }),
  },
  {
    title: "Mastra",
    name: "mastra",
    install: installNpm,
    ready: "/api/agents",
    run: (model) => ({ ...json(`/api/agents/${model}/generate`, toMastra), expect: '{"text":" one"' }),
    stream: (model) => ({ ...json(`/api/agents/${model}/stream`, toMastra), events: "ai-sdk", expect: "data: [DONE]" }),
  },
  {
    title: "Agno",
    name: "agno",
    install: async (folder) => {
      const isInstalled = await installPython(join(folder, "python"), [
        "--compile-bytecode",
        "-r",
        join(folder, "requirements.txt"),
      ]);
      return isInstalled ? [join(folder, "python/bin/python"), join(folder, "server.py")] : null;
    },
    ready: "/health",
    run: (model) => ({ ...form(`/agents/${model}/runs`, false), expect: '"status":"COMPLETED"' }),
    stream: (model) => ({ ...form(`/agents/${model}/runs`, true), events: "agno", expect: "event: RunCompleted" }),
  },
];

/** The figures of a system, and which of two values is the better one. */
const rows = {
  "start to the first 200, ms": "less",
  "idle: memory half a minute after the start, MiB": "less",
  "idle: part of a core, half a minute after the start, %": "less",
  "lone run: p50 over the model's, ms": "less",
  "runs/s at 32": "more",
  "runs at 32: p99, ms": "less",
  "tokens/s without delay, 20 streams": "more",
  "first token over the model's, 20 in one instant, ms": "less",
  "first token over the model's, 200 in one instant, ms": "less",
} satisfies Record<string, "less" | "more">;
type Name = keyof typeof rows;

/**
 * Measures this executable and other agent servers in turns, each on a fresh data directory over plain HTTP. Prints each
 * figure's median, smallest and largest value, and how many times better runnel's is. Installs the others from their
 * registries into a temporary folder, and says which of them cannot be had.
 */
export async function measurePeers({ rounds }: { rounds: number }): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "runnel-peers-"));
  try {
    await using model = await start<{ url: string }>([process.execPath, `${import.meta.dir}/model.ts`]);
    const url = model.line.url;
    const systems = new Map<string, () => Promise<System & AsyncDisposable>>([["runnel", () => startRunnel(url)]]);
    const missing: string[] = [];
    for (const peer of peers) {
      const home = join(folder, peer.name);
      cpSync(join(import.meta.dir, "peers", peer.name), home, { recursive: true });
      const command = await peer.install(home);
      if (command) systems.set(peer.title, () => startPeer(peer, command, { home, model: url }));
      else missing.push(peer.title);
    }
    const begun = loadavg();
    const measured = await measureInTurns(systems, { rounds, model: url });
    console.log(
      [
        `${cpus()[0]?.model}, ${cpus().length} cores, ${isPinned ? "pinned" : "not pinned"}, Bun ${Bun.version}`,
        `${rounds} rounds, load average ${begun[0]?.toFixed(1)} before and ${loadavg()[0]?.toFixed(1)} after`,
      ].join(", "),
    );
    for (const title of missing) console.log(`${title}: cannot be installed here, so it was not measured.`);
    for (const title of systems.keys())
      if (!measured.has(title)) console.log(`${title}: did not start here, so it was not measured.`);
    if (!measured.has("runnel")) throw new Error("runnel did not start, so there is nothing to compare with.");
    console.log(tableOf(measured));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the figures of each round; a system that does not start has none. */
async function measureInTurns(
  systems: Map<string, () => Promise<System & AsyncDisposable>>,
  { rounds, model }: { rounds: number; model: string },
): Promise<Map<string, Figures[]>> {
  const measured = new Map([...systems.keys()].map((title) => [title, [] as Figures[]]));
  for (let round = 0; round < rounds; round++)
    for (const [title, startSystem] of round % 2 === 0 ? systems : [...systems].toReversed()) {
      if (!measured.has(title)) continue;
      await using system = await startSystem().catch((error) => {
        console.error(`${title} did not start: ${error}`);
        return null;
      });
      if (!system) {
        measured.delete(title);
        continue;
      }
      const figures = await measureSystem(system, model).catch((error) => {
        console.error(`${title} failed in round ${round}: ${error}`);
        return null;
      });
      if (!figures) continue;
      measured.get(title)!.push(figures);
      console.error(JSON.stringify({ round, title, ...figures }));
    }
  return measured;
}

async function measureSystem(system: System, model: string): Promise<Record<Name, number>> {
  await Bun.sleep(30_000);
  const resident = memory(system.pid);
  const begun = computed_ms(system);
  await Bun.sleep(10_000);
  const idle_ms = computed_ms(system) - begun;

  const run = await system.run(single);
  const alone = json(`${model}/v1/chat/completions`, { model: single, stream: true, messages: [] });
  await correct({ ...run, connections: 1, requests: 100 });
  await correct({ ...run, connections: 32, duration_ms: 5000 });
  const lone = await correct({ ...run, connections: 1, duration_ms: 4000 });
  const modelAlone = await correct({ ...alone, connections: 1, ahead: 50, requests: 400 });
  const many = await correct({ ...run, connections: 32, duration_ms: 5000 });
  const streams = await correct({ ...(await system.stream(burst)), connections: 20, duration_ms: 5000 });
  const tokens = streams.characters / charactersPerToken;
  const isWhole = tokens === streams.count * tokensOf(burst);
  return {
    "start to the first 200, ms": system.first200_ms,
    "idle: memory half a minute after the start, MiB": resident,
    "idle: part of a core, half a minute after the start, %": (idle_ms / 10_000) * 100,
    "lone run: p50 over the model's, ms": lone.p50 - modelAlone.p50,
    "runs/s at 32": many.perSecond,
    "runs at 32: p99, ms": many.p99,
    "tokens/s without delay, 20 streams": isWhole ? (tokens / streams.elapsed_ms) * 1000 : Number.NaN,
    "first token over the model's, 20 in one instant, ms": await firstToken(system, model, {
      connections: 20,
      instants: 3,
    }),
    "first token over the model's, 200 in one instant, ms": await firstToken(system, model, {
      connections: 200,
      instants: 1,
    }),
  };
}

/** Returns the median delay in ms of the first token against the model's, for so many connections in one instant. */
async function firstToken(
  system: System,
  model: string,
  { connections, instants }: { connections: number; instants: number },
): Promise<number> {
  const load = { connections, requests: connections };
  const stream = await system.stream(paced);
  const alone = json(`${model}/v1/chat/completions`, { model: paced, stream: true, messages: [] });
  const delays: number[] = [];
  for (let instant = 0; instant < instants; instant++) {
    const ofModel = await correct({ ...alone, ...load, events: "model" });
    const ofSystem = await correct({ ...stream, ...load });
    delays.push(ofSystem.first50 - ofModel.first50);
  }
  return median(delays);
}

/** Puts a load on a server; the figures of one that answered wrongly are not numbers. */
async function correct(load: Load): Promise<Measurement> {
  const measured = await measure(load);
  if (measured.errors === 0) return measured;
  const none = Number.NaN;
  return { ...measured, perSecond: none, p50: none, p99: none, first50: none, characters: none };
}

async function startRunnel(model: string): Promise<System & AsyncDisposable> {
  return await startProduct({ parent: tmpdir(), model, tls: false });
}

async function startPeer(
  peer: Peer,
  command: string[],
  { home, model }: { home: string; model: string },
): Promise<System & AsyncDisposable> {
  const data = mkdtempSync(join(home, "data-"));
  const env = {
    NODE_ENV: "production",
    MASTRA_OFFLINE: "true",
    MASTRA_TELEMETRY_DISABLED: "true",
    PEER_PORT: String(freePort()),
    PEER_FOLDER: data,
    PEER_MODEL_URL: `${model}/v1`,
    PEER_MODELS: [single, paced, burst].join(","),
  };
  const begun = performance.now();
  const server = await start<{ url: string }>(command, { env, cwd: home, core: "system" });
  const { url } = server.line;
  try {
    await answers(`${url}${peer.ready}`);
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
  const first200_ms = performance.now() - begun;
  const at = ({ url: path, ...request }: Request): Request => ({ ...request, url: `${url}${path}` });
  return {
    pid: server.pid,
    first200_ms,
    run: (name) => at(peer.run(name)),
    stream: (name) => at(peer.stream(name)),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

/** Waits until a URL answers 200. Throws after a minute. */
async function answers(url: string): Promise<void> {
  for (const end = performance.now() + 60_000; performance.now() < end; await Bun.sleep(5)) {
    const isUp = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return;
  }
  throw new Error(`${url} does not answer 200.`);
}

/** Installs the packages of a folder and Node.js from npm; returns the command of its server. */
async function installNpm(folder: string): Promise<string[] | null> {
  const node = join(folder, `node_modules/node-linux-${process.arch}/bin/node`);
  const install = [process.execPath, "install", "--ignore-scripts"];
  const isInstalled = (await succeeds(install, { cwd: folder })) && (await succeeds([node, "--version"]));
  return isInstalled ? [node, join(folder, "server.mjs")] : null;
}

/** Returns a Markdown table of a column per system: its values, and how many times better runnel's are. */
function tableOf(measured: Map<string, Figures[]>): string {
  const [[, ours = []] = [], ...others] = measured;
  const lines = (Object.keys(rows) as Name[]).map((name) => {
    const valuesOf = (all: Figures[]) => all.map((figures) => Number(figures[name]));
    const better = (theirs: number, own: number) => (rows[name] === "less" ? theirs / own : own / theirs);
    const cells = others.map(([, theirs]) => {
      const ratios = valuesOf(theirs).map((value, round) => better(value, Number(ours[round]?.[name])));
      return `${spread(valuesOf(theirs))}: ${spread(ratios)} ×`;
    });
    return [name, spread(valuesOf(ours)), ...cells];
  });
  const head = ["Figure", ...measured.keys()];
  return [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
