import { siblingId } from "../../domain/ids.ts";
import { type AuthorizationLink, withAuthorizationLinks, withoutCallArguments } from "../../domain/required-action.ts";
import type { JournalEntry, ToolRequest } from "../../domain/run-event.ts";
import { lastText, type RunInput } from "../../domain/run-input.ts";
import { type RunObject, runObject, runOfSummary } from "../../domain/run-object.ts";
import { fold, type RunState } from "../../domain/run-state.ts";
import { timestamp } from "../../domain/time.ts";
import { deleteOldest } from "../../lib/collections.ts";
import type { Db } from "../../storage/db/open.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import type { DeliveryRow } from "./row.ts";

/** Data of an event. */
interface EventData {
  object: Record<string, unknown>;
  tool_call?: Record<string, unknown>;
  /** Set if fields were omitted; the API has them. */
  truncated?: true;
}

/** Serializes a run for the protocol of its own webhook. */
export type SerializeFollowed = (run: RunObject) => string;

export type Payloads = ReturnType<typeof createPayloads>;

const most_bytes = 20_000;
// Entries; each has at most `most_bytes`.
const maxCached = 100;

/** Builds the bodies of deliveries. */
export function createPayloads({
  db,
  journal,
  linksOf,
  serializeFollowed,
}: {
  db: Db;
  /** Returns the addresses at which the users of a project's runs consent. */
  linksOf(projectId: string): AuthorizationLink;
  serializeFollowed: SerializeFollowed;
  journal: Journal;
}) {
  const selectSummary = db.sqlite.query<{ summary: string | null }, [string]>("SELECT summary FROM runs WHERE id = ?");
  // Cache of recent events as JSON, because several webhooks get the same event; the newest is last.
  const payloadCache = new Map<string, string>();

  async function dataOf(delivery: DeliveryRow, run_id: string, seq: number): Promise<string> {
    const [entry] = journal.read(run_id, seq - 1, 1);
    // The trace may have been deleted since: then only the summary is sent.
    if (!entry) return truncateToLimit(delivery, { object: withoutMessages(summaryOf(run_id)), truncated: true });
    const name = `${run_id} ${seq}`;
    const data =
      payloadCache.get(name) ?? truncateToLimit(delivery, await readData(run_id, entry, delivery.run_expires_at_ms));
    payloadCache.delete(name);
    payloadCache.set(name, data);
    if (payloadCache.size > maxCached) deleteOldest(payloadCache);
    return data;
  }

  /** Data of a run's event, as of this entry; later entries are not read. */
  async function readData(run_id: string, { seq, event }: JournalEntry, expiresAt: number | null): Promise<EventData> {
    const state = await stateAt(run_id, seq);
    if (!state) return { object: withoutMessages(summaryOf(run_id)), truncated: true }; // It was deleted while it was read.
    const object = withoutMessages(shownRun(state, expiresAt));
    return event.type === "tool.requested" ? { object, tool_call: shownCall(event.call) } : { object };
  }

  function shownRun(state: RunState, expiresAt: number | null): RunObject {
    const run = runObject({ ...state, messages: [] }, expiresAt);
    if (!run.required_action?.authorizations) return run;
    return { ...run, required_action: withAuthorizationLinks(run.required_action, run.id, linksOf(run.project_id)) };
  }

  const stateAt = async (run_id: string, seq: number): Promise<RunState | null> =>
    journal.isLong(run_id, seq) ? journal.stateAt(run_id, seq) : fold(journal.read(run_id, 0, seq));

  /** Summary of a run whose trace was deleted. */
  function summaryOf(run_id: string): RunObject {
    const summary = selectSummary.get(run_id)?.summary;
    if (!summary) throw new Error(`There is nothing to tell of ${run_id}.`);
    return runOfSummary(summary);
  }

  /** Body for a run's own webhook, in its protocol. */
  async function bodyForFollower(run_id: string, seq: number, expiresAt: number | null): Promise<string> {
    const entry = journal.read(run_id, seq - 1, 1)[0];
    const state = entry && (await stateAt(run_id, seq));
    const run = state ? shownRun(state, expiresAt) : summaryOf(run_id);
    const text = serializeFollowed(run);
    if (Buffer.byteLength(text) <= most_bytes) return text;
    // Omit the output; the client can fetch it by the protocol.
    return serializeFollowed({ ...run, output: null, output_json: null });
  }

  return {
    /** Body of a delivery, identical for all attempts: stored with the first one, and built from immutable data. */
    async bodyOf(delivery: DeliveryRow, isFollower = false): Promise<string> {
      if (delivery.body !== null) return delivery.body;
      const { run_id, seq } = delivery;
      if (run_id === null || seq === null) throw new Error(`${delivery.id} has no body.`);
      if (isFollower) return bodyForFollower(run_id, seq, delivery.run_expires_at_ms);
      return withData(delivery, await dataOf(delivery, run_id, seq));
    },
  };
}

/** Serializes an event, cut to at most 20 KB. */
export const writeEvent = (delivery: Unsent, data: EventData): string =>
  withData(delivery, truncateToLimit(delivery, data));

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

/** Serializes the data, cut to fit. All deliveries of an event get the same cut. */
function truncateToLimit(delivery: Unsent, fullData: EventData): string {
  const room = most_bytes - Buffer.byteLength(withData(delivery, ""));
  let text = JSON.stringify(fullData);
  if (Buffer.byteLength(text) <= room) return text;
  // Shallow copies suffice, because cuts replace fields and never modify values.
  const data: EventData = { ...fullData, object: { ...fullData.object }, truncated: true };
  if (fullData.tool_call) data.tool_call = { ...fullData.tool_call };
  for (const cut of cuts) {
    cut(data);
    text = JSON.stringify(data);
    if (Buffer.byteLength(text) <= room) return text;
  }
  return JSON.stringify({ object: { id: data.object.id, object: data.object.object }, truncated: true });
}

/** Cuts for events that are too long, the least important field first. */
const cuts: ((data: EventData) => void)[] = [
  ({ object }) => shorten(object, "tool_calls", () => []),
  ({ object }) => shorten(object, "output_json", () => null),
  ({ object }) => shorten(object, "input", (input) => truncateTo(1000)(lastText(input as RunInput))),
  ({ object }) => shorten(object, "output", truncateTo(4000)),
  ({ object }) => shorten(object, "metadata", () => ({})),
  ({ object }) => shorten(object, "required_action", withoutArguments),
  ({ tool_call }) => tool_call && shorten(tool_call, "arguments", () => ({})),
  ({ object }) => shorten(object, "required_action", () => null),
];

function shorten(object: Record<string, unknown>, field: string, to: (value: unknown) => unknown): void {
  if (object[field] !== undefined && object[field] !== null) object[field] = to(object[field]);
}

const truncateTo = (length: number) => (value: unknown) =>
  typeof value === "string" ? value.slice(0, length).toWellFormed() : value;

const withoutArguments = (action: unknown) => withoutCallArguments(action as NonNullable<RunObject["required_action"]>);

function withoutMessages({ messages: _, tool_calls, ...run }: RunObject): Record<string, unknown> {
  return { ...run, tool_calls: tool_calls.map(({ output: __, ...call }) => call) };
}

const shownCall = ({ id, tool_id, tool, type, arguments: args, needs, step_index }: ToolRequest) => ({
  id,
  tool_id,
  name: tool,
  type,
  arguments: args,
  needs,
  step_index,
});
