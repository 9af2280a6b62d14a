import { omitUndefined, readChoice, readText } from "../../lib/page-search.ts";
import type { Row } from "./row.ts";

/** Parses the search parameters; invalid values are omitted. */
export const readTraceSearch = (search: Record<string, unknown>) =>
  omitUndefined({
    step: readStep(search.step),
    tab: readChoice(search.tab, traceTabs),
    view: readChoice(search.view, ["detail"] as const),
    q: readText(search.q),
    fold: readChoice(search.fold, ["off"] as const),
    t: typeof search.t === "number" && search.t >= 0 ? Math.round(search.t) : undefined,
    fork: search.fork === true || undefined,
    graph: readChoice(search.graph, ["drawing", "table"] as const),
    node: readText(search.node),
  });

/** Parses a row's key: a step's number, a fold, a nested step's path, a restart, or the run itself. */
function readStep(value: unknown): number | string | undefined {
  if (typeof value === "number") return Number.isInteger(value) && value >= 0 ? value : undefined;
  return typeof value === "string" && /^(run|r\d{1,4}|\d{1,6}(-\d{1,6}){0,30}(-r\d{1,4})?~?)$/.test(value)
    ? value
    : undefined;
}

const traceTabs = ["messages", "request", "arguments", "output", "events", "raw"] as const;
export type TraceTab = (typeof traceTabs)[number];

export const tabWords: Record<TraceTab, string> = {
  messages: "Messages",
  request: "Request",
  arguments: "Arguments",
  output: "Output",
  events: "Events",
  raw: "Raw",
};

/** Tabs of a row, in order. */
export function tabsOf({ kind, type }: Pick<Row, "kind" | "type">): readonly TraceTab[] {
  if (kind === "run") return ["output", "messages", "events", "raw"];
  if (kind === "restart") return ["output"];
  return type === "model_call" ? ["messages", "request", "output", "raw"] : ["arguments", "output", "raw"];
}

/** Returns the requested tab if the row has it, otherwise the most useful one. */
export function tabOf(row: Row, requestedTab: TraceTab | undefined): TraceTab {
  const tabs = tabsOf(row);
  if (requestedTab && tabs.includes(requestedTab)) return requestedTab;
  if (row.type === "model_call") return row.mark === "failed" ? "output" : "messages";
  return row.mark === "running" && row.step?.output == null && tabs.includes("arguments") ? "arguments" : "output";
}

/** Returns the tab before or after another, wrapping around. */
export function tabBeside(row: Row, tab: TraceTab, by: 1 | -1): TraceTab {
  const tabs = tabsOf(row);
  return tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length]!;
}
