import { readFileSync } from "node:fs";

/** Where the text of a token begins in each format: after `mark`, which is after `event` where it is given. */
const formats = {
  runnel: { mark: '"delta":"' },
  model: { mark: '"content":"' },
  agno: { mark: '"content":"', event: '"event":"RunContent"' },
  "ai-sdk": { mark: '"text":"', event: '"type":"text-delta"' },
} satisfies Record<string, { mark: string; event?: string }>;

/**
 * A closed loop of requests, described by JSON in the first argument; prints its measurements as JSON. It runs in a
 * separate process, so that it can be pinned to a core and its work does not count as the server's.
 */
export interface Load {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  /** Each request has an id of its own in the place of `$REQUEST_ID`. */
  body?: string;
  /** Path of a file with a longer body. */
  body_file?: string;
  ca?: string;
  connections: number;
  /** Number of requests before the measurement: the first ones of a fresh process are slow. */
  ahead?: number;
  /** Number of requests, or milliseconds, after which it ends. */
  requests?: number;
  duration_ms?: number;
  /** Milliseconds over which the connections start evenly; without it all start at once. */
  spread_ms?: number;
  /** Reads server-sent events of this format, and counts the characters of its tokens. */
  events?: keyof typeof formats;
  /** Substring of a correct response. */
  expect?: string;
}

export interface Measurement {
  count: number;
  errors: number;
  lastError: string;
  perSecond: number;
  p50: number;
  p99: number;
  slowest: number;
  first50: number;
  first99: number;
  characters: number;
  bytes: number;
  elapsed_ms: number;
}

if (import.meta.main) console.log(JSON.stringify(await run(JSON.parse(process.argv[2]!))));

async function run({ body_file, ...rest }: Load): Promise<Measurement> {
  const load = body_file ? { ...rest, body: readFileSync(body_file, "utf8") } : rest;
  const totals: number[] = [];
  const firsts: number[] = [];
  const sums = { errors: 0, lastError: "", characters: 0, bytes: 0 };
  for (let made = 0; made < (load.ahead ?? 0); made++) await once(load, [], [], { ...sums });
  const begun = performance.now();
  const end = begun + (load.duration_ms ?? Number.POSITIVE_INFINITY);
  let left = load.requests ?? Number.POSITIVE_INFINITY;
  await Promise.all(
    Array.from({ length: load.connections }, async (_, index) => {
      if (load.spread_ms) await Bun.sleep((index / load.connections) * load.spread_ms);
      while (left-- > 0 && performance.now() < end) await once(load, totals, firsts, sums);
    }),
  );
  const elapsed_ms = performance.now() - begun;
  for (const list of [totals, firsts]) list.sort((a, b) => a - b);
  return {
    ...sums,
    count: totals.length,
    perSecond: (totals.length / elapsed_ms) * 1000,
    p50: quantile(totals, 0.5),
    p99: quantile(totals, 0.99),
    slowest: totals.at(-1) ?? Number.NaN,
    first50: quantile(firsts, 0.5),
    first99: quantile(firsts, 0.99),
    elapsed_ms,
  };
}

type Sums = Pick<Measurement, "errors" | "lastError" | "characters" | "bytes">;

async function once(load: Load, totals: number[], firsts: number[], sums: Sums): Promise<void> {
  const { url, method = "GET", headers, ca, events, expect } = load;
  const body = load.body?.replace("$REQUEST_ID", () => crypto.randomUUID());
  const begun = performance.now();
  try {
    const response = await fetch(url, { method, headers, body, ...(ca && { tls: { ca } }) });
    const text = events ? await readEvents(response, events, begun, firsts, sums) : await response.text();
    totals.push(performance.now() - begun);
    if (response.ok && (!expect || text.includes(expect))) return;
    sums.lastError = `${response.status} ${text.slice(-200)}`;
  } catch (error) {
    sums.lastError = String(error);
  }
  sums.errors++;
}

/** Reads to the end and returns the whole text. */
async function readEvents(
  response: Response,
  format: keyof typeof formats,
  begun: number,
  firsts: number[],
  sums: Sums,
): Promise<string> {
  const decoder = new TextDecoder();
  const { mark, event = "" }: { mark: string; event?: string } = formats[format];
  let [all, seen] = ["", false];
  const find = (from: number): number => {
    const at = all.indexOf(event, from);
    return at < 0 ? at : all.indexOf(mark, at);
  };
  for await (const piece of response.body!) {
    sums.bytes += piece.length;
    all += decoder.decode(piece, { stream: true });
    if (seen || find(0) < 0) continue;
    seen = true;
    firsts.push(performance.now() - begun);
  }
  // Counts characters instead of events, because tokens that arrive together share one event.
  for (let at = find(0); at >= 0; at = find(at + 1))
    sums.characters += all.indexOf('"', at + mark.length) - at - mark.length;
  return all;
}

function quantile(sorted: number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
