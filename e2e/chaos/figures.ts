import type { ToolServer } from "../tool-server.ts";
import type { StormState } from "./client.ts";
import { isOfEvent } from "./event-sender.ts";
import { paths } from "./judge.ts";
import type { Journal, Row } from "./record.ts";

export type Figures = { [name: string]: number };

/** Counts what happened: a storm that hit nothing proves nothing. */
export function figuresOf(record: Journal, tools: ToolServer, { clients, figures }: StormState): Figures {
  const rows = [...record.runs.values()].flatMap((run) => run.rows);
  const count = (wanted: (row: Row) => boolean) => rows.filter(wanted).length;
  return {
    runs: record.runs.size,
    acknowledged: [...clients.values()].filter(({ acknowledged }) => acknowledged).length,
    steps: count(({ type }) => type === "step.completed"),
    recoveries: count(({ type }) => type === "run.recovered"),
    model_calls_again: count(({ type, event }) => type === "step.restarted" && event.step_type === "model_call"),
    keys_again: [...tools.countsByKey(paths.safe).values()].filter((times) => times > 1).length,
    unknown_asked: count(({ type, event }) => type === "tool.requested" && event.call.needs === "reconcile"),
    unknown_reported: count(({ type, event }) => type === "tool.completed" && event.status === "unknown"),
    messages: count(({ type }) => type === "run.steered"),
    paused: count(({ type }) => type === "run.paused"),
    handoffs: count(({ type }) => type === "handoff.completed"),
    in_threads: count(({ type, event }) => type === "run.created" && event.thread_id !== null),
    consents: count(({ type }) => type === "tool.authorized"),
    of_events: count(({ type, event }) => type === "run.created" && isOfEvent(event.input)),
    ...figures,
  };
}
