/**
 * Compares the streams of these sources with those of another folder of sources, in turns within one run:
 *
 *   node scripts/run.mjs scripts/bench/versions.ts <folder> [--rounds 15]
 *
 * It prints the median of the ratios, now to before, and the smallest and largest of them.
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../root.ts";
import type { Measurement } from "./load.ts";
import { measure, median, start, threadTimes } from "./processes.ts";
import { type Product, startProduct } from "./product.ts";

const charactersPerToken = 5; // Length of the model's words, space included.
const tokens = ({ characters }: Measurement): number => characters / charactersPerToken;
const perSecond = (measured: Measurement): number => (tokens(measured) / measured.elapsed_ms) * 1000;
/** Processor time of all threads, more exact than that of the process. */
const processor_ms = ({ pid }: Product): number => [...threadTimes(pid).values()].reduce((sum, ms) => sum + ms, 0);

const { values, positionals } = parseArgs({ options: { rounds: { type: "string" } }, allowPositionals: true });
const [before] = positionals;
if (!before) throw new Error("Which folder has the sources of the version before?");

await using model = await start<{ url: string }>([process.execPath, `${import.meta.dir}/model.ts`]);
await using older = await startFrom(before);
await using newer = await startFrom(root);
for (const product of [older, newer])
  await measure({ ...(await product.run("t1-d0")), connections: 8, requests: 2000 });
const rounds: Record<string, number>[] = [];
for (let round = 0; round < Number(values.rounds ?? 15); round++) {
  const first = await figuresOf(round % 2 === 0 ? older : newer);
  const second = await figuresOf(round % 2 === 0 ? newer : older);
  const [then, now] = round % 2 === 0 ? [first, second] : [second, first];
  rounds.push(Object.fromEntries(Object.entries(now).map(([name, value]) => [name, value / Number(then[name])])));
  console.error(JSON.stringify({ round, then, now }));
}
for (const name of Object.keys(rounds[0] ?? {})) {
  const ratios = rounds.map((figures) => Number(figures[name])).sort((a, b) => a - b);
  const [smallest, middle, largest] = [ratios[0], median(ratios), ratios.at(-1)].map((ratio) => ratio?.toFixed(2));
  console.log(`${name}: ${middle} (${smallest}–${largest})`);
}

function startFrom(folder: string): Promise<Product & AsyncDisposable> {
  const command = [process.execPath, join(folder, "server/main.ts")];
  return startProduct({ parent: tmpdir(), model: model.line.url, tls: false, command });
}

/** Measures first tokens, throughput, and the processor time of paced tokens. */
async function figuresOf(product: Product): Promise<Record<string, number>> {
  const alone = await measure({ ...(await product.stream("t20-d5")), connections: 1, requests: 40 });
  const many = await measure({ ...(await product.stream("t20-d5")), connections: 20, requests: 80 });
  const burst = await measure({ ...(await product.stream("t200-d0")), connections: 20, requests: 800 });
  const fast = await measure({ ...(await product.stream("t500-d1")), connections: 20, requests: 40 });
  const begun = processor_ms(product);
  const paced = await measure({ ...(await product.stream("t500-d5")), connections: 60, requests: 60 });
  const paced_ms = processor_ms(product) - begun;
  return {
    "first token, one stream, ms": alone.first50,
    "first token, 20 streams, ms": many.first50,
    "tokens/s, 20 streams without delay": perSecond(burst),
    "tokens/s, 20 streams of one in 1 ms": perSecond(fast),
    "processor time of a token, 60 streams of one in 5 ms, µs": (paced_ms * 1000) / tokens(paced),
  };
}
