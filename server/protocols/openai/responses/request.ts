import { byteLength } from "../../../domain/byte-length.ts";
import { noSuch } from "../../../domain/error-messages.ts";
import type { Fault } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import { contentText } from "../../../domain/run-input.ts";
import { fault, throwIfInvalid } from "../../../http/errors.ts";
import { plainContent } from "../../../http/plain-input.ts";
import type { AgentOverrides } from "../../../http/schemas.ts";
import type { CreateRun } from "../../../runs/schema.ts";
import { threadOf } from "../item-ids.ts";
import type { CreateResponse } from "../item-schema.ts";
import { type Entry, readItems } from "../items.ts";
import {
  choiceOf,
  effortOf,
  type InputMessage,
  type Settings,
  schemaOf,
  toolOf,
  withoutNullSettings,
} from "../request-fields.ts";

import type { Results } from "../results.ts";

/** Metadata key of a run with the previous response's id, which responses return. */
export const previousKey = "openai.previous_response_id";

/** A parsed request for a response. */
interface AskedResponse {
  entries: Entry[];
  /** The run without its input. */
  run: Omit<CreateRun, "input">;
  /** True if the oldest messages are dropped when the input is too large. */
  shortens: boolean;
}

/** Parses a request for a response. Throws if it uses unsupported features. */
export function readResponse(body: CreateResponse): AskedResponse {
  const faults: Fault[] = [];
  const { input, instructions, previous_response_id: previous, conversation, truncation } = body;
  const items = typeof input === "string" ? [{ role: "user", content: input }] : (input ?? []);
  const entries = readItems(items, "input", faults);
  const tools = (body.tools ?? []).map((tool, index) => toolOf(tool.type, tool, `tools[${index}]`, faults));
  const output_schema = schemaOf(body.text?.format, "text.format", faults);
  const model_settings = settingsOf(body, faults);
  const thread_id = threadIn(conversation, faults);
  if (previous && conversation) faults.push(fault("previous_response_id", "Must not be given beside a conversation."));
  if (truncation && truncation !== "auto" && truncation !== "disabled")
    faults.push(fault("truncation", "Must be auto or disabled."));
  throwIfInvalid(faults);
  const instructionTexts = entries.flatMap((entry) => (entry.is === "instruction" ? [entry.text] : []));
  const added = [instructions ?? "", ...instructionTexts].filter((text) => text !== "").join("\n\n");
  const overrides: AgentOverrides = {
    ...(added !== "" && { additional_instructions: added }),
    ...(Object.keys(model_settings).length > 0 && { model_settings }),
    ...(output_schema && { output_schema }),
  };
  const user_id = body.safety_identifier ?? body.user;
  const bodyMetadata = body.metadata ?? {};
  const hasRoom = Object.keys(bodyMetadata).length < limits.metadata_pairs;
  const metadata = { ...bodyMetadata, ...(previous && hasRoom && { [previousKey]: previous }) };
  return {
    entries,
    run: {
      agent_id: body.model,
      ...(Object.keys(overrides).length > 0 && { overrides }),
      ...(tools.length > 0 && { tools: tools as NonNullable<CreateRun["tools"]> }),
      ...(user_id && { user_id }),
      ...(thread_id && { thread_id, if_thread_busy: "queue" }),
      ...(Object.keys(metadata).length > 0 && { metadata }),
      on_disconnect: body.background ? "continue" : "cancel",
    },
    shortens: truncation === "auto",
  };
}

function settingsOf(body: CreateResponse, faults: Fault[]): Settings {
  const { tool_choice: choice } = body;
  const name = typeof choice === "object" && choice?.type === "function" ? choice.name : null;
  return withoutNullSettings({
    temperature: body.temperature ?? null,
    top_p: body.top_p ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    reasoning_effort: effortOf(body.reasoning?.effort, "reasoning.effort", faults),
    parallel_tool_calls: body.parallel_tool_calls ?? null,
    tool_choice: choiceOf(choice, name, faults),
  });
}

function threadIn(conversation: CreateResponse["conversation"], faults: Fault[]): string | null {
  if (!conversation) return null;
  const id = threadOf(typeof conversation === "string" ? conversation : conversation.id);
  if (id === null) faults.push(fault("conversation", noSuch("conversation")));
  return id;
}

/** Returns the results at the end of an input, or null if it does not end with any: they go to the run that asked. */
export function resultsIn(entries: readonly Entry[]): Results | null {
  const last = entries.findLastIndex(({ is }) => is !== "result" && is !== "instruction");
  const results = entries.slice(last + 1).flatMap((entry) => (entry.is === "result" ? [entry] : []));
  if (results.length === 0) return null;
  return { answers: results.map(({ answer }) => answer), places: results.map(({ place }) => place) };
}

/** Number of oldest messages to drop so that the input fits, including what belongs to them. */
export function withoutRoom(messages: readonly InputMessage[]): number {
  let [bytes, count] = [0, 0];
  const fits = messages.findLastIndex(({ content, tool_calls }) => {
    bytes += byteLength(contentText(plainContent(content))) + byteLength(JSON.stringify(tool_calls ?? []));
    return bytes > limits.input_bytes || ++count > limits.input_messages;
  });
  if (fits < 0) return 0;
  // Start at a user message, because a result must not lose its call.
  const from = messages.findIndex(({ role }, index) => index > fits && role === "user");
  return Math.max(from, 0);
}
