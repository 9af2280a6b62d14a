import { statSync } from "node:fs";
import { join } from "node:path";
import type { Runnel } from "../../e2e/harness.ts";
import { openFiles, residentBytes, serverPid } from "../../e2e/process-figures.ts";
import type { Load } from "./load.ts";

const MB = 1024 * 1024;

/** Figures of the server at one moment. */
export type Sample = ReturnType<typeof sample>;

export function sample(server: Runnel, { counts, takeReads, errors }: Load, began: number) {
  const pid = serverPid(server.dataDir);
  const reads = takeReads().sort((a, b) => a - b);
  const size = (name: string) => statSync(join(server.dataDir, name)).size / MB;
  return {
    minute: (performance.now() - began) / 60_000,
    requests: counts.requests,
    runs: counts.runs,
    streams: counts.streams,
    "RSS MB": residentBytes(pid) / MB,
    files: openFiles(pid),
    "read p50 ms": reads[Math.floor(reads.length / 2)] ?? 0,
    "read p99 ms": reads[Math.floor(reads.length * 0.99)] ?? 0,
    "WAL MB": size("runnel.db-wal"),
    "DB MB": size("runnel.db"),
    errors: errors.length,
  };
}

/** Returns the growth of a figure per minute: the slope of the least-squares line through the samples. */
export function growth(samples: readonly Sample[], figure: "RSS MB" | "files"): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(samples.map(({ minute }) => minute)), mean(samples.map((each) => each[figure]))];
  const over = samples.reduce((sum, each) => sum + (each.minute - x) * (each[figure] - y), 0);
  return over / samples.reduce((sum, each) => sum + (each.minute - x) ** 2, 0);
}

/** Returns one line of the table. */
export const line = (values: readonly (string | number)[]): string =>
  values
    .map((value) => (typeof value === "number" && !Number.isInteger(value) ? value.toFixed(1) : String(value)))
    .map((value) => value.padStart(12))
    .join("");
