import { siblingId } from "../core/ids.ts";
import type { JournalEntry, ToolRequest } from "../core/run-event.ts";
import { lastText, type RunInput } from "../core/run-input.ts";
import { type RunObject, runObject, runOfSummary } from "../core/run-object.ts";
import { fold, type RunState } from "../core/run-state.ts";
import { timestamp } from "../core/time.ts";
import type { Db } from "../db/open.ts";
import type { Journal } from "../journal/journal.ts";
import type { Port } from "../lib/port.ts";
import type { DeliveryRow } from "./row.ts";

/** What an event is about. */
interface EventData {
  object: Record<string, unknown>;
  tool_call?: Record<string, unknown>;
  /** Something was left out: the API has it. */
  truncated?: true;
}

/** How a run is told to those who follow it by another protocol. */
export interface Followed {
  body(run: RunObject): string;
}

export type Payloads = ReturnType<typeof createPayloads>;

const most_bytes = 20_000;
// Each has at most so many bytes.
const keptMost = 100;

/** Writes what webhooks receive. */
export function createPayloads({
  db,
  journal,
  followed,
}: {
  db: Pick<Db, "sqlite">;
  followed: Port<Followed>;
  journal: Pick<Journal, "read" | "stateAt" | "isLong">;
}) {
  const selectSummary = db.sqlite.query<{ summary: string | null }, [string]>("SELECT summary FROM runs WHERE id = ?");
  // Several webhooks hear of the same event, and it is read once: the newest last, as JSON.
  const kept = new Map<string, string>();

  async function dataOf(delivery: DeliveryRow, run_id: string, seq: number): Promise<string> {
    const [entry] = journal.read(run_id, seq - 1, 1);
    // Its trace may have been deleted since: then nothing that was kept of it is told.
    if (!entry) return fitted(delivery, { object: thin(summaryOf(run_id)), truncated: true });
    const name = `${run_id} ${seq}`;
    const data = kept.get(name) ?? fitted(delivery, await readData(run_id, entry, delivery.run_expires_at_ms));
    kept.delete(name);
    kept.set(name, data);
    if (kept.size > keptMost) kept.delete(kept.keys().next().value!);
    return data;
  }

  /** The run as the entry left it. What came after it is not read. */
  async function readData(run_id: string, { seq, event }: JournalEntry, expiresAt: number | null): Promise<EventData> {
    const state = await stateAt(run_id, seq);
    if (!state) return { object: thin(summaryOf(run_id)), truncated: true }; // It went while it was read.
    const object = thin(runObject({ ...state, messages: [] }, expiresAt));
    return event.type === "tool.requested" ? { object, tool_call: shownCall(event.call) } : { object };
  }

  const stateAt = async (run_id: string, seq: number): Promise<RunState | null> =>
    journal.isLong(run_id, seq) ? journal.stateAt(run_id, seq) : fold(journal.read(run_id, 0, seq));

  /** What is left of a run whose trace was deleted. */
  function summaryOf(run_id: string): RunObject {
    const summary = selectSummary.get(run_id)?.summary;
    if (!summary) throw new Error(`There is nothing to tell of ${run_id}.`);
    return runOfSummary(summary);
  }

  /** A run as its own webhook is told of it, in the words of whoever follows it. */
  async function bodyForFollower(run_id: string, seq: number, expiresAt: number | null): Promise<string> {
    const entry = journal.read(run_id, seq - 1, 1)[0];
    const state = entry && (await stateAt(run_id, seq));
    const run = state ? runObject({ ...state, messages: [] }, expiresAt) : summaryOf(run_id);
    const text = followed().body(run);
    if (Buffer.byteLength(text) <= most_bytes) return text;
    // What it says can be had by the protocol itself.
    return followed().body({ ...run, output: null, output_json: null });
  }

  return {
    /** The same for every attempt: it is kept with the first one, and made of what cannot change until then. */
    async bodyOf(delivery: DeliveryRow, isFollower = false): Promise<string> {
      if (delivery.body !== null) return delivery.body;
      const { run_id, seq } = delivery;
      if (run_id === null || seq === null) throw new Error(`${delivery.id} has no body.`);
      if (isFollower) return bodyForFollower(run_id, seq, delivery.run_expires_at_ms);
      return withData(delivery, await dataOf(delivery, run_id, seq));
    },
  };
}

/** An event as it is sent: at most 20 KB, whatever it is about. */
export const writeEvent = (delivery: Unsent, data: EventData): string => withData(delivery, fitted(delivery, data));

type Unsent = Omit<DeliveryRow, "body">;

function withData(delivery: Unsent, data: string): string {
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
  return `${JSON.stringify(event).slice(0, -1)},"data":${data}}`;
}

/** As JSON, with as much left out as is too much; for all deliveries of an event that is as much. */
function fitted(delivery: Unsent, whole: EventData): string {
  const room = most_bytes - Buffer.byteLength(withData(delivery, ""));
  let text = JSON.stringify(whole);
  if (Buffer.byteLength(text) <= room) return text;
  // Cuts put other values in place of fields, and change none of these values.
  const data: EventData = { ...whole, object: { ...whole.object }, truncated: true };
  if (whole.tool_call) data.tool_call = { ...whole.tool_call };
  for (const cut of cuts) {
    cut(data);
    text = JSON.stringify(data);
    if (Buffer.byteLength(text) <= room) return text;
  }
  return JSON.stringify({ object: { id: data.object.id, object: data.object.object }, truncated: true });
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

function thin({ messages: _, tool_calls, ...run }: RunObject): Record<string, unknown> {
  return { ...run, tool_calls: tool_calls.map(({ output: __, ...call }) => call) };
}

const shownCall = ({ id, tool_id, tool, type, arguments: args, needs, step_index }: ToolRequest) => ({
  id,
  tool_id,
  tool,
  type,
  arguments: args,
  needs,
  step_index,
});
