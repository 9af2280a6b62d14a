import { countedUsage } from "../domain/counted-usage.ts";
import type { RunObject } from "../domain/run-object.ts";
import type { Principal } from "../http/principal.ts";
import { oneOf } from "../lib/schema.ts";
import { readRunQuery } from "./filters.ts";
import type { RunItem } from "./run-items.ts";
import type { RunStore } from "./store.ts";

export const exportTypes = { jsonl: "application/x-ndjson", csv: "text/csv" } as const;
type Format = keyof typeof exportTypes;

export const exportFormat = {
  format: oneOf(["jsonl", "csv"], {
    description: "The format; without it, what `Accept` asks for: `text/csv`, or else JSON lines.",
  }),
};

// One page at a time, so that a slow reader holds no lock and little memory.
const perPage = 50;

/** `GET /v1/runs/export`: streams all runs of a list. */
export function exportRuns(runs: RunStore, principal: Principal, request: Request): Response {
  const { page, ...query } = readRunQuery(request.url, principal, exportFormat);
  const { format: requestedFormat, ...filters } = page.filters;
  const format: Format = (requestedFormat as Format | undefined) ?? (wantsCsv(request) ? "csv" : "jsonl");
  const encoder = new TextEncoder();
  let after: string | null = null;
  let isFirst = true;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = { ...page, filters, limit: perPage, starting_after: after };
        const { data, has_more, last_id } = await runs.list(principal, next, query);
        const head = isFirst && format === "csv" ? row(Object.keys(columns)) : "";
        isFirst = false;
        const text = head + data.map((run) => (format === "csv" ? csvRow(run) : `${JSON.stringify(run)}\n`)).join("");
        if (text !== "") controller.enqueue(encoder.encode(text));
        after = last_id;
        if (!has_more) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: {
      "content-type": `${exportTypes[format]}${format === "csv" ? "; charset=utf-8" : ""}`,
      "content-disposition": `attachment; filename="runs.${format}"`,
      "cache-control": "private, no-store",
    },
  });
}

const wantsCsv = (request: Request): boolean => request.headers.get("accept")?.includes("text/csv") ?? false;

/** Columns of the CSV. */
const columns: Record<string, (run: RunItem) => unknown> = {
  id: ({ id }) => id,
  status: ({ status }) => status,
  agent_id: ({ agent_id }) => agent_id,
  model: ({ model }) => model,
  user_id: ({ user_id }) => user_id,
  thread_id: ({ thread_id }) => thread_id,
  created_at: ({ created_at }) => created_at,
  completed_at: ({ completed_at }) => completed_at,
  input: ({ input }) => (typeof input === "string" ? input : JSON.stringify(input)),
  output: ({ output }) => output,
  error_code: ({ error }: Pick<RunObject, "error">) => error?.code,
  total_tokens: (run) => countedUsage(run)?.total_tokens,
  cost_usd: (run) => countedUsage(run)?.cost_usd,
  metadata: ({ metadata }) => JSON.stringify(metadata),
};

const csvRow = (run: RunItem): string => row(Object.values(columns).map((of) => of(run)));
const row = (cells: readonly unknown[]): string => `${cells.map(cell).join(",")}\r\n`;

/** Returns an RFC 4180 cell. A leading quote keeps spreadsheets from executing text that begins like a formula. */
export function cell(value: unknown): string {
  if (typeof value === "number") return String(value);
  const text = String(value ?? "");
  const inert = /^[=+\-@\t\r\n|%]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
