import { siblingId } from "../core/ids.ts";
import type { ToolRequest } from "../core/run-event.ts";
import { lastText, type RunInput } from "../core/run-input.ts";
import { type RunObject, runObject } from "../core/run-object.ts";
import { fold } from "../core/run-state.ts";
import { timestamp } from "../core/time.ts";
import type { Db } from "../db/open.ts";
import type { Journal } from "../journal/journal.ts";
import type { DeliveryRow } from "./row.ts";

/** What an event is about. */
interface EventData {
  object: Record<string, unknown>;
  tool_call?: Record<string, unknown>;
  /** Something was left out: the API has it. */
  truncated?: true;
}

export type Payloads = ReturnType<typeof createPayloads>;

const most_bytes = 20_000;

/** Writes what webhooks receive. */
export function createPayloads({ db, journal }: { db: Pick<Db, "sqlite">; journal: Pick<Journal, "read"> }) {
  const selectSummary = db.sqlite.query<{ summary: string | null }, [string]>("SELECT summary FROM runs WHERE id = ?");
  // Several webhooks hear of the same event, mostly in the same tick. Not longer: the run may be deleted.
  let last: { run_id: string; seq: number; data: EventData } | null = null;

  function dataOf(delivery: DeliveryRow, run_id: string, seq: number): EventData {
    if (last?.run_id === run_id && last.seq === seq) return last.data;
    const data = readData(run_id, seq, delivery.run_expires_at_ms);
    last = { run_id, seq, data };
    setImmediate(() => {
      last = null;
    });
    return data;
  }

  /** The run as the entry left it. What came after it is not read. */
  function readData(run_id: string, seq: number, expiresAt: number | null): EventData {
    const entries = journal.read(run_id, 0, seq);
    const event = entries[seq - 1]?.event;
    if (!event) return { object: thin(summaryOf(run_id)), truncated: true };
    const object = thin(runObject(fold(entries), expiresAt));
    return event.type === "tool.requested" ? { object, tool_call: shownCall(event.call) } : { object };
  }

  /** What is left of a run whose trace was deleted. */
  function summaryOf(run_id: string): RunObject {
    const summary = selectSummary.get(run_id)?.summary;
    if (!summary) throw new Error(`There is nothing to tell of ${run_id}.`);
    return JSON.parse(summary);
  }

  return {
    /** The same for every attempt: it is kept with the first one, and made of what cannot change until then. */
    bodyOf(delivery: DeliveryRow): string {
      if (delivery.body !== null) return delivery.body;
      const { run_id, seq } = delivery;
      if (run_id === null || seq === null) throw new Error(`${delivery.id} has no body.`);
      return writeEvent(delivery, dataOf(delivery, run_id, seq));
    },
  };
}

/** An event as it is sent: at most 20 KB, whatever it is about. */
export function writeEvent(delivery: Omit<DeliveryRow, "body">, data: EventData): string {
  const event = {
    id: siblingId(delivery.id, "event"),
    object: "event",
    type: delivery.type,
    created_at: timestamp(delivery.created_at_ms),
    project_id: delivery.project_id,
    environment: delivery.environment,
    run_id: delivery.run_id,
    seq: delivery.seq,
  };
  return fitted((some) => JSON.stringify({ ...event, data: some }), data);
}

function fitted(write: (data: EventData) => string, whole: EventData): string {
  let text = write(whole);
  if (Buffer.byteLength(text) <= most_bytes) return text;
  const data: EventData = { ...structuredClone(whole), truncated: true };
  for (const cut of cuts) {
    cut(data);
    text = write(data);
    if (Buffer.byteLength(text) <= most_bytes) return text;
  }
  return write({ object: { id: data.object.id, object: data.object.object }, truncated: true });
}

/** What is left out of an event that is too long, the most dispensable first. */
const cuts: ((data: EventData) => void)[] = [
  ({ object }) => shorten(object, "tool_calls", () => []),
  ({ object }) => shorten(object, "output_json", () => null),
  ({ object }) => shorten(object, "input", (input) => beginning(1000)(lastText(input as RunInput))),
  ({ object }) => shorten(object, "output", beginning(4000)),
  ({ object }) => shorten(object, "metadata", () => ({})),
  ({ object }) => shorten(object, "required_action", withoutArguments),
  ({ tool_call }) => tool_call && shorten(tool_call, "arguments", () => ({})),
  ({ object }) => shorten(object, "required_action", () => null),
];

function shorten(object: Record<string, unknown>, field: string, to: (value: unknown) => unknown): void {
  if (object[field] !== undefined && object[field] !== null) object[field] = to(object[field]);
}

const beginning = (length: number) => (value: unknown) =>
  typeof value === "string" ? value.slice(0, length).toWellFormed() : value;

const withoutArguments = (action: unknown) => {
  const { type, submit_tool_outputs } = action as NonNullable<RunObject["required_action"]>;
  const tool_calls = submit_tool_outputs.tool_calls.map((call) => ({ ...call, arguments: {} }));
  return { type, submit_tool_outputs: { tool_calls } };
};

function thin({ messages, tool_calls, ...run }: RunObject): Record<string, unknown> {
  return { ...run, tool_calls: tool_calls.map(({ output, ...call }) => call) };
}

const shownCall = ({ id, tool_id, tool, type, arguments: args, needs, step_index }: ToolRequest) => ({
  ...{ id, tool_id, tool, type, arguments: args, needs, step_index },
});
