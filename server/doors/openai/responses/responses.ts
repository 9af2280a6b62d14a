import { AppError } from "../../../core/errors.ts";
import { ifThere, notFound } from "../../../core/not-found.ts";
import type { RunCreated, RunEvent } from "../../../core/run-event.ts";
import { callsById, messageObject } from "../../../core/run-object.ts";
import { invalid } from "../../../http/errors.ts";
import type { Principal } from "../../../http/principal.ts";
import type { Journal } from "../../../journal/journal.ts";
import type { RunStore } from "../../../runs/store.ts";
import type { RunStream } from "../../../runs/stream.ts";
import { runOfItem, type Stretch, stretchOf } from "../item-ids.ts";
import type { InputItem } from "../item-schema.ts";
import { type Entry, itemsOf, readItems, saidAgain } from "../items.ts";
import { entriesOf } from "../journal-places.ts";
import type { InputMessage } from "../request-fields.ts";
import { type ResponseSoFar, responseDialect } from "./dialect.ts";
import { aboutResponse } from "./object.ts";

export interface ResponsesOptions {
  runs: Pick<RunStore, "standing">;
  journal: Pick<Journal, "read" | "head" | "snapshot" | "stateAt">;
  tail: RunStream;
}

interface Reading {
  stream?: boolean;
  after?: number | null;
  whole?: boolean;
}

/** Responses as the journals of runs have them. */
export function createResponses({ runs, journal, tail }: ResponsesOptions) {
  /** Where this response stands; throws 404 for one that is not there for whoever asks. */
  function find(principal: Principal, id: string): Stretch {
    const stretch = stretchOf(id);
    const row = stretch && standing(principal, stretch.run_id);
    if (!stretch || !row) throw noResponse(id);
    // A stretch behind the beginning begins with an answer to what was asked.
    const { run_id, seq } = stretch;
    if (seq > 0 && (seq >= row.seq || !asksClient(eventAt(run_id, seq)))) throw noResponse(id);
    return stretch;
  }

  /** Null for a run that is not there for whoever asks, or of which nothing is left to tell, since its trace was deleted. */
  function standing(principal: Principal, run_id: string) {
    const row = ifThere(() => runs.standing(principal, run_id));
    return row?.summary === null ? row : null;
  }

  const eventAt = (runId: string, seq: number): RunEvent | undefined => journal.read(runId, seq - 1, 1)[0]?.event;

  function createdOf(runId: string): RunCreated {
    const created = eventAt(runId, 1);
    if (created?.type !== "run.created") throw notFound();
    return created;
  }

  /** Where the run asked its client for something before this place; 0 is its beginning. */
  function startBefore(runId: string, seq: number): number {
    let last = 0;
    for (const entry of entriesOf(journal, runId)) {
      if (entry.seq >= seq) return last;
      if (asksClient(entry.event)) last = entry.seq;
    }
    return last;
  }

  function dialectOf(stretch: Stretch, { stream = false, after = null, whole = false }: Reading = {}) {
    const { run_id, seq } = stretch;
    const created = createdOf(run_id);
    return responseDialect({
      stretch,
      stream,
      after,
      whole,
      about: aboutResponse({
        stretch,
        created,
        agent: journal.snapshot(created, created.agent_hash),
        at: journal.read(run_id, seq, 1)[0]?.at ?? 0,
        before: seq === 0 ? null : { run_id, seq: startBefore(run_id, seq) },
      }),
    });
  }

  /** The response as it is now. */
  async function soFar(stretch: Stretch, reading: Pick<Reading, "whole"> = {}): Promise<ResponseSoFar> {
    const { run_id, seq } = stretch;
    const dialect = dialectOf(stretch, reading);
    const texts = tail(run_id, { seq, anchor: null, offset: 0 }, () => {}, { dialect });
    try {
      for (;;) {
        const text = texts.next(0);
        const isRead = text === null && dialect.soFar().seq >= (journal.head(run_id)?.seq ?? 0);
        if (text === undefined || isRead) return dialect.soFar();
        if (text === null) await new Promise((resolve) => setImmediate(resolve)); // A long record, in slices.
      }
    } finally {
      texts.stop();
    }
  }

  /** All that was said up to the end of a response. Throws where it goes on. */
  async function messagesTo(principal: Principal, id: string): Promise<InputMessage[]> {
    const stretch = find(principal, id);
    const { status, seq } = await soFar(stretch);
    if (status === "queued" || status === "in_progress")
      throw new AppError("run_not_terminal", `The response ${id} is ${status}.`, { param: "previous_response_id" });
    const state = await journal.stateAt(stretch.run_id, seq);
    if (!state) throw noResponse(id);
    const callOf = callsById(state.calls);
    return state.messages.flatMap((message) => saidAgain(messageObject(message, callOf)) ?? []);
  }

  /** The same entries with items of earlier responses in the place of references to them. */
  async function resolved(principal: Principal, entries: readonly Entry[]): Promise<Entry[]> {
    const known = new Map<string, ResponseSoFar["output"]>();
    const all: Entry[] = [];
    for (const entry of entries) {
      if (entry.is !== "reference") {
        all.push(entry);
        continue;
      }
      const run_id = runOfItem(entry.id);
      const items = run_id && (known.get(run_id) ?? (await outputOf(principal, run_id)));
      const item = items ? items.find(({ id }) => id === entry.id) : undefined;
      if (!run_id || !items || !item)
        throw invalid(`input[${entry.place}].id`, `Item with id '${entry.id.slice(0, 100)}' not found.`);
      known.set(run_id, items);
      all.push(...readItems([item as InputItem], "", []).map((one) => ({ ...one, place: entry.place })));
    }
    return all;
  }

  const outputOf = async (principal: Principal, run_id: string): Promise<ResponseSoFar["output"] | null> =>
    standing(principal, run_id) && (await soFar({ run_id, seq: 0 }, { whole: true })).output;

  /** What a response was asked: the messages of its run, or the results that it goes on with. */
  function inputItems({ run_id, seq }: Stretch): object[] {
    if (seq > 0) return resultsAt(run_id, seq);
    const { earlier = [], message_id: id, input: content, images } = createdOf(run_id);
    return [...earlier, { id, role: "user", content, images }].flatMap(itemsOf);
  }

  function resultsAt(run_id: string, seq: number): object[] {
    const event = eventAt(run_id, seq);
    const asked = event?.type === "run.requires_action" ? event.required_action.submit_tool_outputs.tool_calls : [];
    const owners = Map.groupBy(asked, (call) => call.run_id ?? run_id);
    return [...owners].flatMap(([owner, calls]) => {
      const ids = new Set(calls.map(({ id }) => id));
      const results: object[] = [];
      for (const { event: entry } of entriesOf(journal, owner, owner === run_id ? seq : 0))
        if (entry.type === "tool.completed" && ids.delete(entry.tool_call_id)) {
          const { message_id: id, tool_call_id, output, error } = entry;
          const content = error ? error.message : typeof output === "string" ? output : JSON.stringify(output);
          results.push(...itemsOf({ id, role: "tool", content, tool_call_id }));
        }
      return results;
    });
  }

  /** What the user asked a run. */
  const questionOf = (run_id: string): string => createdOf(run_id).input;

  return { find, questionOf, dialectOf, soFar, messagesTo, resolved, inputItems };
}

const asksClient = (event: RunEvent | undefined): boolean =>
  event?.type === "run.requires_action" &&
  event.required_action.submit_tool_outputs.tool_calls.some(({ needs }) => needs === "output");

const noResponse = (id: string) =>
  new AppError("resource_not_found", `Response with id '${id.slice(0, 100)}' not found.`, { param: "response_id" });
