import { AppError } from "../../../domain/errors.ts";
import { notFound, orNull } from "../../../domain/not-found.ts";
import type { RunCreated, RunEvent } from "../../../domain/run-event.ts";
import { callsById, messageObject } from "../../../domain/run-object.ts";
import { invalid } from "../../../http/errors.ts";
import type { Principal } from "../../../http/principal.ts";
import type { RunStore } from "../../../runs/store.ts";
import type { RunStream } from "../../../runs/stream/stream.ts";
import type { Journal } from "../../../storage/journal/journal.ts";
import { parseResponseId, type ResponsePosition, runOfItem } from "../item-ids.ts";
import type { InputItem } from "../item-schema.ts";
import { type Entry, itemsOf, readItems, toInputMessage } from "../items.ts";
import { entriesOf } from "../journal-places.ts";
import type { InputMessage } from "../request-fields.ts";
import { type ResponseSoFar, responseDialect } from "./dialect.ts";
import { aboutResponse } from "./object.ts";

export interface ResponsesOptions {
  runs: RunStore;
  journal: Journal;
  tail: RunStream;
}

interface Reading {
  stream?: boolean;
  after?: number | null;
  whole?: boolean;
}

/** Responses, read from the journals of runs. */
export function createResponses({ runs, journal, tail }: ResponsesOptions) {
  /** Returns the part of a run that a response id names. Throws 404 if the caller has no such response. */
  function find(principal: Principal, id: string): ResponsePosition {
    const position = parseResponseId(id);
    const row = position && findRun(principal, position.run_id);
    if (!position || !row) throw noResponse(id);
    // A part after the first begins with the answer to a question.
    const { run_id, seq } = position;
    if (seq > 0 && (seq >= row.seq || !asksClient(eventAt(run_id, seq)))) throw noResponse(id);
    return position;
  }

  /** Returns null if the caller has no such run, or if its trace was deleted. */
  function findRun(principal: Principal, run_id: string) {
    const row = orNull(() => runs.standing(principal, run_id));
    return row?.summary === null ? row : null;
  }

  const eventAt = (runId: string, seq: number): RunEvent | undefined => journal.read(runId, seq - 1, 1)[0]?.event;

  function createdOf(runId: string): RunCreated {
    const created = eventAt(runId, 1);
    if (created?.type !== "run.created") throw notFound();
    return created;
  }

  /** Returns the position of the last question to the client before this one; 0: the beginning. */
  function startBefore(runId: string, seq: number): number {
    let last = 0;
    for (const entry of entriesOf(journal, runId)) {
      if (entry.seq >= seq) return last;
      if (asksClient(entry.event)) last = entry.seq;
    }
    return last;
  }

  function dialectOf(stretch: ResponsePosition, { stream = false, after = null, whole = false }: Reading = {}) {
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

  /** Returns the current state of a response. */
  async function soFar(stretch: ResponsePosition, reading: Pick<Reading, "whole"> = {}): Promise<ResponseSoFar> {
    const { run_id, seq } = stretch;
    const dialect = dialectOf(stretch, reading);
    const texts = tail(run_id, { seq, anchor: null, offset: 0 }, () => {}, { dialect });
    try {
      for (;;) {
        const text = texts.next(0);
        const isRead = text === null && dialect.soFar().seq >= (journal.head(run_id)?.seq ?? 0);
        if (text === undefined || isRead) return dialect.soFar();
        // Yield: a long record is read in slices.
        if (text === null) await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      texts.stop();
    }
  }

  /** Returns all messages up to the end of a response. Throws if it is still running. */
  async function messagesTo(principal: Principal, id: string): Promise<InputMessage[]> {
    const stretch = find(principal, id);
    const { status, seq } = await soFar(stretch);
    if (status === "queued" || status === "in_progress")
      throw new AppError("run_not_terminal", `The response ${id} is ${status}.`, { param: "previous_response_id" });
    const state = await journal.stateAt(stretch.run_id, seq);
    if (!state) throw noResponse(id);
    const callOf = callsById(state.calls);
    return state.messages.flatMap((message) => toInputMessage(messageObject(message, callOf)) ?? []);
  }

  /** Replaces references by the items of earlier responses. */
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
    findRun(principal, run_id) && (await soFar({ run_id, seq: 0 }, { whole: true })).output;

  /** Returns the input of a response: the messages of its run, or the results that it continues with. */
  function inputItems({ run_id, seq }: ResponsePosition): object[] {
    if (seq > 0) return resultsAt(run_id, seq);
    const { earlier = [], message_id: id, input: content, images } = createdOf(run_id);
    return [...earlier, { id, role: "user", content, images }].flatMap(itemsOf);
  }

  function resultsAt(run_id: string, seq: number): object[] {
    const event = eventAt(run_id, seq);
    const requiredCalls =
      event?.type === "run.requires_action" ? event.required_action.submit_tool_outputs.tool_calls : [];
    const owners = Map.groupBy(requiredCalls, (call) => call.run_id ?? run_id);
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

  /** Returns the user's input of a run. */
  const questionOf = (run_id: string): string => createdOf(run_id).input;

  return { find, questionOf, dialectOf, soFar, messagesTo, resolved, inputItems };
}

const asksClient = (event: RunEvent | undefined): boolean =>
  event?.type === "run.requires_action" &&
  event.required_action.submit_tool_outputs.tool_calls.some(({ needs }) => needs === "output");

const noResponse = (id: string) =>
  new AppError("resource_not_found", `Response with id '${id.slice(0, 100)}' not found.`, { param: "response_id" });
