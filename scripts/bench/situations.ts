import { cpus, tmpdir } from "node:os";
import type { Measurement } from "./load.ts";
import { measure, median, memory, start, threadTimes } from "./processes.ts";
import { type Product, startProduct } from "./product.ts";
import type { Figures } from "./round.ts";

/** Situations of a small team's server, which runs little and was just started. */
export const situations = { cold: measureCold, lone: measureLone, idle: measureIdle };
export type Situation = keyof typeof situations;

interface Executable {
  title: string;
  /** Default: the executable of this folder. */
  command?: string[];
}

/**
 * Measures situations of this executable, or in turns of it and another one. Each round has servers on fresh data
 * directories. Prints each figure's median, smallest and largest value, and the same of its ratio to the other one.
 */
export async function measureSituations(
  chosen: readonly Situation[],
  { rounds, against }: { rounds: number; against?: string },
): Promise<void> {
  await using model = await start<{ url: string }>([process.execPath, `${import.meta.dir}/model.ts`]);
  const executables: Executable[] = [
    { title: "now" },
    ...(against === undefined ? [] : [{ title: "before", command: [against] }]),
  ];
  const measured = new Map(executables.map(({ title }) => [title, [] as Figures[]]));
  for (let round = 0; round < rounds; round++)
    for (const { title, command } of round % 2 === 0 ? executables : executables.toReversed()) {
      const figures: Figures = {};
      for (const situation of chosen) {
        await using product = await startProduct({ parent: tmpdir(), model: model.line.url, tls: true, command });
        Object.assign(figures, await situations[situation](product, model.line.url));
      }
      measured.get(title)!.push(figures);
      console.error(JSON.stringify({ round, title, ...figures }));
    }
  console.log(`${cpus()[0]?.model}, ${cpus().length} cores, Bun ${Bun.version}, ${rounds} rounds`);
  const [now, before] = [...measured.values()];
  for (const name of Object.keys(now?.[0] ?? {})) {
    const valuesOf = (all: Figures[] = []) => all.map((figures) => Number(figures[name]));
    const ratios = before?.map((figures, round) => Number(now?.[round]?.[name]) / Number(figures[name]));
    console.log(
      [
        name,
        spread(valuesOf(now)),
        ...(before ? [`before ${spread(valuesOf(before))}`, `ratio ${spread(ratios ?? [])}`] : []),
      ].join(" | "),
    );
  }
}

/** Returns the median of values, and in parentheses the smallest and the largest of several. */
export function spread(values: readonly number[]): string {
  const digits = (value: number) => value.toFixed(Math.abs(value) < 10 ? 2 : 0);
  if (values.length === 1) return digits(values[0]!);
  return `${digits(median(values))} (${digits(Math.min(...values))}–${digits(Math.max(...values))})`;
}

/** Processor time of all threads in ms, more exact than that of the process. */
export const computed_ms = ({ pid }: { pid: number }): number =>
  [...threadTimes(pid).values()].reduce((sum, ms) => sum + ms, 0);

async function withProcessorTime(
  product: Product,
  work: () => Promise<Measurement>,
): Promise<[Measurement, each_us: number]> {
  const begun = computed_ms(product);
  const measured = await work();
  return [measured, ((computed_ms(product) - begun) / measured.count) * 1000];
}

/** The first runs after a start: a hundred one after the other, then many at once. */
async function measureCold(product: Product): Promise<Figures> {
  const run = await product.run("t1-d0");
  const many = (requests: number) => () => measure({ ...run, connections: 32, requests });
  const [, first] = await withProcessorTime(product, () => measure({ ...run, connections: 1, requests: 100 }));
  await many(900)();
  const [, early] = await withProcessorTime(product, many(3000));
  await many(16_000)();
  const [, late] = await withProcessorTime(product, many(3000));
  return {
    "cold: start to the first 200, ms": product.first200_ms,
    "cold: processor time of each of the first 100 runs, µs": first,
    "cold: the same, 32 at once, after 1,000 runs, µs": early,
    "cold: the same, 32 at once, after 20,000 runs, µs": late,
    "cold: after 1,000 runs over after 20,000": early / late,
  };
}

/** One run after the other, soon after a start and after some thousand runs, and what the model alone takes. */
async function measureLone(product: Product, model: string): Promise<Figures> {
  const run = await product.run("t1-d0");
  const tool = await product.run("t1-d0-tool");
  const lone = (requests: number) => measure({ ...run, connections: 1, requests });
  const modelCall = {
    url: `${model}/v1/chat/completions`,
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "t1-d0", stream: true, messages: [{ role: "user", content: "Go." }] }),
  };
  await lone(100);
  const [, early_us] = await withProcessorTime(product, () => lone(300));
  await measure({ ...run, connections: 8, requests: 3200 });
  const [later, later_us] = await withProcessorTime(product, () => lone(600));
  const withTool = await measure({ ...tool, connections: 1, ahead: 50, requests: 200 });
  const alone = await measure({ ...modelCall, connections: 1, ahead: 50, requests: 400 });
  return {
    "lone: processor time of a run, after 100 runs, µs": early_us,
    "lone: the same, after 3,600 runs, µs": later_us,
    "lone: p50 over the model's, ms": later.p50 - alone.p50,
    "lone: p50, ms": later.p50,
    "lone: p99, ms": later.p99,
    "lone: p99 over p50": later.p99 / later.p50,
    "lone: with a tool over without": withTool.p50 / later.p50,
  };
}

/** An idle server: just after its start, a minute later, and half a minute after load. */
async function measureIdle(product: Product): Promise<Figures> {
  const share = async (seconds: number) => {
    const begun = computed_ms(product);
    await Bun.sleep(seconds * 1000);
    return ((computed_ms(product) - begun) / (seconds * 1000)) * 100;
  };
  const early = await share(10);
  await Bun.sleep(50_000);
  const resident = memory(product.pid);
  const late = await share(20);
  await measure({ ...(await product.run("t1-d0")), connections: 8, requests: 2000 });
  await Bun.sleep(30_000);
  const after = await share(20);
  return {
    "idle: of a core in the first 10 s, %": early,
    "idle: of a core after a minute, %": late,
    "idle: of a core half a minute after 2,000 runs, %": after,
    "idle: memory after a minute, MiB": resident,
  };
}
