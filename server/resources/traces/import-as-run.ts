import { newId } from "../../domain/ids.ts";
import type { JournalEntry, RequiredCall, RunEvent } from "../../domain/run-event.ts";
import { mediaOfMessage, type RecordedInput } from "../../domain/run-input.ts";
import type { Scope } from "../../domain/scope.ts";

/** Place of an imported run on this server. */
export interface Place extends Scope {
  run_id: string;
  agent_hash: string;
  parent_run_id: string | null;
  /** The parent's call that started it; null if the record does not tell. */
  parent_call_id: string | null;
  depth: number;
  request_id: string | null;
  /** Returns the new id of a run; an unused id for a run that was not imported. */
  runIdOf(id: string): string;
  /**
   * The same for a child run: an unused id unless it is a child of this run, so that no other run appears below it.
   */
  childIdOf(id: string): string;
  /** True to keep the ids of its input images, which are shown if they exist here. */
  keepsImages: boolean;
}

/**
 * Converts a foreign record to a run of this server, with its own id and project and without thread or user. Other ids
 * stay as data, except those by which the importer could read objects that they may not see.
 */
export const importAsRun = (entries: readonly JournalEntry[], place: Place): Omit<JournalEntry, "seq">[] =>
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
        : {
            ...event,
            documents: event.documents.map((one) =>
              one.image || one.native || one.page_images ? withoutOwner(one) : one,
            ),
          };
    case "run.steered":
      return place.keepsImages ? event : { ...event, ...withoutOwners(mediaOfMessage(event)) };
    case "tool.completed":
      return place.keepsImages || !event.images ? event : { ...event, images: event.images.map(withoutOwner) };
    case "history.loaded":
      return place.keepsImages
        ? event
        : {
            ...event,
            messages: event.messages.map((one) =>
              one.role === "user" || one.role === "tool" ? withoutOwners(one) : one,
            ),
          };
    default:
      return event;
  }
}

function withoutImages({ earlier, ...last }: RecordedInput): Omit<RecordedInput, "input"> {
  return { ...withoutOwners(mediaOfMessage(last)), ...(earlier && { earlier: earlier.map(withoutOwners) }) };
}

const mediaFields = ["images", "audio", "files", "documents"] as const;

/** Replaces the ids of all files that a message shows. */
function withoutOwners<T extends object>(message: T): T {
  const lists = mediaFields.flatMap((name) => {
    const list: { file_id: string }[] | undefined = Object(message)[name];
    return list ? [[name, list.map(withoutOwner)]] : [];
  });
  return { ...message, ...Object.fromEntries(lists) };
}

/** Replaces a file's id by an unused one. */
const withoutOwner = <T extends { file_id: string }>(file: T): T => ({ ...file, file_id: newId("file") });
