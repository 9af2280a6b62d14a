import { median } from "./processes.ts";
import type { Figures } from "./round.ts";

type Value = (median: (name: string) => number) => number;

interface Bound {
  sign: "≥" | "≤";
  limit: number;
}

interface Row {
  goal: string;
  what: string;
  value: Value;
  bound: Bound;
  unit: string;
}

const rows: Row[] = [
  row(
    "G1",
    "reads/s at 32 connections, part of bare Elysia with one prepared read",
    percent("read.ours", "read.bare"),
    atLeast(70),
    " %",
  ),
  row("G1", "one read alone, p50 over a bare hello", figure("read.over_hello_us"), atMost(15), " µs"),
  row("G2", "run of one step, p50 over the model alone", figure("run.over_model_ms"), atMost(1), " ms"),
  row("G3", "runs at 32 at once, p99", figure("run.p99"), atMost(10), " ms"),
  row("G3", "runs/s at 32 at once", figure("run.per_second"), atLeast(5000)),
  row("G4", "run with one HTTP tool, p50 against a run without", figure("run.tool_ratio"), atMost(2), " ×"),
  row("G5", "first token over the model's, 20 streams", figure("stream20.first_over_ms"), atMost(3), " ms"),
  row("G5", "first token over the model's, 200 streams", figure("stream200.first_over_ms"), atMost(10), " ms"),
  row(
    "G5",
    "p99 of the first token against the model's, 200 streams",
    figure("stream200.first99_ratio"),
    atMost(2),
    " ×",
  ),
  row("G5", "whole stream over the model's, 20 streams", figure("stream20.total_over_percent"), atMost(1), " %"),
  row("G5", "whole stream over the model's, 200 streams", figure("stream200.total_over_percent"), atMost(1), " %"),
  row(
    "G6",
    "processor time a token against a byte pipe, 200 streams at 5 ms",
    figure("stream200.time_ratio"),
    atMost(1.5),
    " ×",
  ),
  row("G6", "tokens/s without delay, 20 streams", figure("burst.tokens_per_second"), atLeast(250_000)),
  row("G6", "bytes a token on the wire, 20 streams at 5 ms", figure("stream20.bytes_per_token"), atMost(60)),
  row("G7", "runs/s, part of the same with the data on tmpfs", percent("run.durable_part"), atLeast(50), " %"),
  row("G7", "tokens/s, part of the same with the data on tmpfs", percent("burst.durable_part"), atLeast(55), " %"),
  row("G8", "memory, idle", figure("start.idle_mib"), atMost(90), " MiB"),
  row("G8", "memory a stream, at 200", figure("stream200.mib_per_stream"), atMost(0.3), " MiB"),
  row("G9", "start on a fresh data directory to the first 200", figure("start.first200_ms"), atMost(60), " ms"),
  row("G10", "read p99 while 20 streams without delay run", figure("read.p99_under_load"), atMost(15), " ms"),
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

/** The goals beside what was measured, medians of the rounds, as a table in Markdown. */
export function table(columns: { title: string; rounds: readonly Figures[] }[]): string {
  const head = ["", "What", "Goal", ...columns.map(({ title }) => title)];
  const measured = rows.filter(({ value }) => columns.some(({ rounds }) => !Number.isNaN(value(medianOf(rounds)))));
  const lines = measured.map(({ goal, what, value, bound: { sign, limit }, unit }) => {
    const cells = columns.map(({ rounds }) => {
      const result = value(medianOf(rounds));
      return `${format(result)}${unit}${(sign === "≥" ? result >= limit : result <= limit) ? "" : " ✗"}`;
    });
    return [goal, what, `${sign} ${limit.toLocaleString("en").replaceAll(",", " ")}${unit}`, ...cells];
  });
  return [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

const medianOf = (rounds: readonly Figures[]) => (name: string) =>
  median(rounds.map((figures) => figures[name] ?? Number.NaN));

function row(goal: string, what: string, value: Value, bound: Bound, unit = ""): Row {
  return { goal, what, value, bound, unit };
}

function figure(name: string): Value {
  return (middle) => middle(name);
}

function percent(name: string, of?: string): Value {
  return (middle) => (middle(name) / (of ? middle(of) : 1)) * 100;
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
