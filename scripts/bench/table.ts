import { median } from "./processes.ts";
import type { Figures } from "./round.ts";

type Value = (median: (name: string) => number) => number;

interface Bound {
  sign: "≥" | "≤";
  limit: number;
}

/** A figure without a goal. */
const none = null;

interface Row {
  goal: string;
  what: string;
  value: Value;
  bound: Bound | null;
  unit: string;
}

const rows: Row[] = [
  row(
    "G1",
    "processor time of a read, against bare Elysia with one prepared read",
    part("read.time_us", "read.bare_time_us"),
    atMost(1.6),
    " ×",
  ),
  row("G1", "one read alone, p50 over a bare hello", figure("read.over_hello_us"), atMost(15), " µs"),
  row("G2", "run of one step, p50 over the model alone", figure("run.over_model_ms"), atMost(0.7), " ms"),
  row("G3", "processor time of a run, 32 at once, warm", figure("run.time_us"), atMost(200), " µs"),
  row("G3", "the same in the first 5 000 runs", figure("run.first_time_us"), atMost(300), " µs"),
  row(
    "G3",
    "runs/s at 32 at once, part of a server that relays the model",
    percent("run.per_second", "run.relay_per_second"),
    atLeast(41),
    " %",
  ),
  row("G3", "runs/s at 32 at once", figure("run.per_second"), atLeast(4500)),
  row("G3", "runs at 32 at once, p99", figure("run.p99"), atMost(12), " ms"),
  row("G4", "run with one HTTP tool, p50 against a run without", figure("run.tool_ratio"), atMost(1.6), " ×"),
  row("G5", "first token over the model's, 20 in one instant", figure("first.20_at_once_over_ms"), atMost(4), " ms"),
  row("G5", "first token over the model's, 200 in one instant", figure("first.200_at_once_over_ms"), atMost(30), " ms"),
  row("G5", "first token over the model's, 200 over a second", figure("first.200_spread_over_ms"), atMost(3), " ms"),
  row("G5", "first token, 200 in one instant, p99", figure("first.200_at_once_p99_ms"), none, " ms"),
  row("G5", "whole stream over the model's, 20 streams", figure("stream20.total_over_percent"), atMost(1), " %"),
  row("G5", "whole stream over the model's, 200 streams", figure("stream200.total_over_percent"), atMost(1), " %"),
  row("G6", "processor time of a token, 200 streams at 5 ms", figure("stream200.token_us"), atMost(16), " µs"),
  row("G6", "the same of a byte pipe", figure("stream200.piped_token_us"), none, " µs"),
  row("G6", "tokens/s without delay, 20 streams of 200 tokens", figure("burst.tokens_per_second"), atLeast(400_000)),
  row("G6", "bytes a token on the wire, 20 streams at 5 ms", figure("stream20.bytes_per_token"), none),
  row("G7", "processor time of a run's journal by itself, 32 at once", figure("journal.time_us"), none, " µs"),
  row(
    "G7",
    "the same, against a journal in memory without durability",
    part("journal.time_us", "journal.memory_us"),
    atMost(2),
    " ×",
  ),
  row("G8", "memory, idle, 5 s after the start", figure("start.idle_mib"), atMost(75), " MiB"),
  row("G8", "memory a slow stream, 200 at a token a second", figure("slow.mib_per_stream"), atMost(0.13), " MiB"),
  row("G8", "memory a stream, 200 at 5 ms, with garbage", figure("stream200.mib_per_stream"), atMost(0.13), " MiB"),
  row("G9", "start on a fresh data directory to the first 200", figure("start.first200_ms"), atMost(90), " ms"),
  row("G10", "read p99 while 20 streams without delay run", figure("read.p99_under_load"), atMost(15), " ms"),
  row(
    "G10",
    "longest wait of others while 20 runs of 20 000 events are listed",
    figure("long.list_stall_ms"),
    atMost(8),
    " ms",
  ),
  row("G10", "the same while nothing is listed", figure("long.alone_stall_ms"), none, " ms"),
  row(
    "G13",
    "GET of a finished run of 20 000 events, against one of 50",
    part("long.get_ms", "long.get_short_ms"),
    atMost(2),
    " ×",
  ),
  ...["read", "list", "write", "run", "stream"].map((name) =>
    row(
      "G13",
      `${name}: time at 1 000 000 stored runs, part of that at 10 000`,
      percent(`${name}.many_ms`, `${name}.few_ms`),
      atMost(110),
      " %",
    ),
  ),
];

/** Returns the goals and the measurements, medians of the rounds, as a Markdown table. */
export function table(columns: { title: string; rounds: readonly Figures[] }[]): string {
  const head = ["", "What", "Goal", ...columns.map(({ title }) => title)];
  const measured = rows.filter(({ value }) => columns.some(({ rounds }) => !Number.isNaN(value(medianOf(rounds)))));
  const lines = measured.map(({ goal, what, value, bound, unit }) => {
    const cells = columns.map(({ rounds }) => {
      const result = value(medianOf(rounds));
      return `${format(result)}${unit}${isWithin(result, bound) ? "" : " ✗"}`;
    });
    const limit = bound ? `${bound.sign} ${bound.limit.toLocaleString("en").replaceAll(",", " ")}${unit}` : "–";
    return [goal, what, limit, ...cells];
  });
  return [...inMarkdown([head, head.map(() => "---"), ...lines]), "", ...byThread(columns)].join("\n");
}

const inMarkdown = (rows: string[][]): string[] => rows.map((cells) => `| ${cells.join(" | ")} |`);

const isWithin = (result: number, bound: Bound | null): boolean =>
  !bound || (bound.sign === "≥" ? result >= bound.limit : result <= bound.limit);

/** Returns the processor time of a run by thread. */
function byThread(columns: { title: string; rounds: readonly Figures[] }[]): string[] {
  const mark = "run.thread.";
  const names = Object.keys(columns[0]!.rounds[0]!).filter((name) => name.startsWith(mark));
  const lines = names.map((name) => [
    name.slice(mark.length),
    ...columns.map(({ rounds }) => format(medianOf(rounds)(name))),
  ]);
  const shown = lines.filter(([, ...values]) => values.some((value) => Number(value) >= 1));
  return inMarkdown([
    ["Thread, µs a run", ...columns.map(({ title }) => title)],
    ["---", ...columns.map(() => "---")],
    ...shown,
  ]);
}

const medianOf = (rounds: readonly Figures[]) => (name: string) =>
  median(rounds.map((figures) => figures[name] ?? Number.NaN));

function row(goal: string, what: string, value: Value, bound: Bound | null, unit = ""): Row {
  return { goal, what, value, bound, unit };
}

function figure(name: string): Value {
  return (middle) => middle(name);
}

function part(name: string, of: string): Value {
  return (middle) => middle(name) / middle(of);
}

function percent(name: string, of: string): Value {
  return (middle) => part(name, of)(middle) * 100;
}

function atLeast(limit: number): Bound {
  return { sign: "≥", limit };
}

function atMost(limit: number): Bound {
  return { sign: "≤", limit };
}

function format(value: number): string {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en").replaceAll(",", " ");
  return value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);
}
