import { newId } from "../core/ids.ts";
import type { JournalEntry, RequiredCall, RunEvent } from "../core/run-event.ts";
import type { Asked } from "../core/run-input.ts";
import type { Scope } from "../core/scope.ts";

/** Where an imported run stands here. */
export interface Place extends Scope {
  run_id: string;
  agent_hash: string;
  parent_run_id: string | null;
  /** The call of that one that it answers; null where the record does not tell. */
  parent_call_id: string | null;
  depth: number;
  request_id: string | null;
  /** What a run is called here that is called so there; a run that did not come along is called as nobody is. */
  runIdOf(id: string): string;
  /** The same of a run that a call of this one started: no other may be shown below it, least of all itself. */
  childIdOf(id: string): string;
  /** Whether the images that it was given may be looked up by their ids, should they be here. */
  keepsImages: boolean;
}

/**
 * A record of elsewhere as a run of this server: its own run, its project, no thread, no user. All other ids stay what
 * they are, data, but for those by which something could be read here that whoever imports it may not see.
 */
export const ownRecord = (entries: readonly JournalEntry[], place: Place): Omit<JournalEntry, "seq">[] =>
  entries.map(({ at, event }) => ({ at, event: ownEvent(event, place) }));

function ownEvent(event: RunEvent, place: Place): RunEvent {
  const { runIdOf, childIdOf } = place;
  const ownCalls = (calls: readonly RequiredCall[]): RequiredCall[] =>
    calls.map((call) => (call.run_id === undefined ? call : { ...call, run_id: runIdOf(call.run_id) }));
  switch (event.type) {
    case "run.created": {
      const { run_id, agent_hash, parent_run_id, parent_call_id, depth, request_id, project_id, environment } = place;
      const { parent_call_id: _, api_key_id: __, ...rest } = event;
      return {
        ...rest,
        run_id,
        project_id,
        environment,
        agent_hash,
        parent_run_id,
        depth,
        request_id,
        ...(parent_call_id !== null && { parent_call_id }),
        thread_id: null,
        session_id: null,
        user_id: null,
        ...(!place.keepsImages && { file_ids: event.file_ids.map(() => newId("file")), ...withoutImages(event) }),
        imported: true,
      };
    }
    case "subagent.started":
      return { ...event, run_id: childIdOf(event.run_id) };
    case "subagent.waiting":
      return { ...event, calls: ownCalls(event.calls) };
    case "run.requires_action": {
      const { required_action } = event;
      const tool_calls = ownCalls(required_action.submit_tool_outputs.tool_calls);
      return { ...event, required_action: { ...required_action, submit_tool_outputs: { tool_calls } } };
    }
    case "documents.attached":
      return place.keepsImages
        ? event
        : { ...event, documents: event.documents.map((one) => (one.image ? nobodys(one) : one)) };
    case "history.loaded":
      return place.keepsImages
        ? event
        : {
            ...event,
            messages: event.messages.map((one) =>
              one.role === "user" && one.images ? { ...one, images: one.images.map(nobodys) } : one,
            ),
          };
    default:
      return event;
  }
}

function withoutImages({ images, earlier }: Asked): Pick<Asked, "images" | "earlier"> {
  const nobodysOf = <T extends Pick<Asked, "images">>(one: T): T =>
    one.images ? { ...one, images: one.images.map(nobodys) } : one;
  return { ...(images && nobodysOf({ images })), ...(earlier && { earlier: earlier.map(nobodysOf) }) };
}

/** A file that nobody has, here or there. */
const nobodys = <T extends { file_id: string }>(file: T): T => ({ ...file, file_id: newId("file") });
