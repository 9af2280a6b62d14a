import { type Frame, isLastFrame } from "../../domain/api-types/frames.ts";
import { stoppingRun } from "../../domain/error-messages.ts";
import type { RequiredAuthorization, RequiredCallObject } from "../../domain/required-action.ts";
import type { ModelAnswer } from "../../domain/run-event.ts";
import type { ChatEncoder } from "../chat-streams.ts";
import type { StreamedRun } from "../conversations.ts";

interface Streamed extends StreamedRun {
  /** Id of the assistant's message; default: the run's. */
  message_id?: string;
  /** Calls that the client was asked about before this stream, by `keyOf`. */
  asked: Iterable<string>;
}

/** Key of a question about a call, so that each is asked once. */
export const keyOf = ({ tool_call_id, needs }: Pick<RequiredCallObject, "tool_call_id" | "needs">): string =>
  `${tool_call_id}:${needs}`;

const line = (part: object): string => `data: ${JSON.stringify(part)}\n\n`;

const finishOf: Record<string, string> = { length: "length", content_filter: "content-filter" };

/** Returns the id of an assistant's message: the run's; if it answers a message to a run at work, both ids. */
export const answerId = (runId: string, steeredId: string | null): string =>
  steeredId === null ? runId : `${runId}-${steeredId}`;

/** Returns the run of an assistant message's id. */
export const runIn = (id: string | undefined): string | null =>
  /^(run_[0-9a-z]{26})(?:-msg_[0-9a-z]{26})?$/.exec(id ?? "")?.[1] ?? null;

/** Encodes a run as an assistant message; each model call begins a step. */
export function uiMessageDialect({ run_id, answered, answers, asked: before, ...of }: Streamed): ChatEncoder {
  let messageId = of.message_id ?? run_id;
  /** Messages to the run that no model call has had yet. */
  let steered: { id: string; content: string }[] = [];
  let isBegun = false;
  /** The current step, its model call's index, and whether it has text. */
  let step = { index: -1, isOpen: false, isSaid: false };
  /** The current text or reasoning, and the number of parts so far. */
  let part = { id: "", kind: "", count: 0 };
  let finishReason = "stop";
  const announcedTools = new Set<string>();
  const askedKeys = new Set(before);

  function begin(): string {
    if (isBegun) return "";
    isBegun = true;
    return line({ type: "start", messageId, messageMetadata: { run_id } });
  }

  function endPart(): string {
    if (part.id === "") return "";
    const { id, kind, count } = part;
    part = { id: "", kind: "", count };
    return line({ type: `${kind}-end`, id });
  }

  function endStep(): string {
    const endParts = endPart() + (step.isOpen ? line({ type: "finish-step" }) : "");
    step.isOpen = false;
    return endParts;
  }

  function beginStep(index: number): string {
    const ended = endStep() + steered.map(steeringOf).map(line).join("");
    steered = [];
    step = { index, isOpen: true, isSaid: false };
    return ended + line({ type: "start-step" });
  }

  function writeText(kind: "text" | "reasoning", delta: string): string {
    step.isSaid ||= kind === "text";
    let opening = "";
    if (part.kind !== kind) {
      opening = endPart();
      part = { id: `${messageId}-${part.count}`, kind, count: part.count + 1 };
      opening += line({ type: `${kind}-start`, id: part.id });
    }
    return `${opening}data: {"type":"${kind}-delta","id":"${part.id}","delta":${JSON.stringify(delta)}}\n\n`;
  }

  const announceTool = (
    call: { tool_call_id: string; name: string; type?: string; arguments: unknown },
    needsClient: boolean,
  ): string => {
    announcedTools.add(call.tool_call_id);
    const { tool_call_id: toolCallId, name: toolName, arguments: input } = call;
    const dynamic = call.type === "mcp" && { dynamic: true };
    return line({
      type: "tool-input-available",
      toolCallId,
      toolName,
      input,
      providerExecuted: needsClient,
      ...dynamic,
    });
  };

  /** Asks the client for a call's output or approval. */
  function ask(call: RequiredCallObject): string {
    const key = keyOf(call);
    if (askedKeys.has(key)) return "";
    askedKeys.add(key);
    if (call.needs === "output") return announceTool(call, false);
    const announced = announcedTools.has(call.tool_call_id) ? "" : announceTool(call, true);
    const toolCallId = call.tool_call_id;
    if (call.elicitation) {
      const { id, ...question } = call.elicitation;
      return announced + line({ type: "data-elicitation", id, data: { tool_call_id: call.tool_call_id, ...question } });
    }
    const doubt = call.needs === "reconcile" && {
      reason: "Whether the call was done is not known. Shall it be done (again)?",
    };
    return announced + line({ type: "tool-approval-request", approvalId: toolCallId, toolCallId, ...doubt });
  }

  const isDecidedHere = (id: string): boolean => askedKeys.has(`${id}:approval`) || askedKeys.has(`${id}:reconcile`);

  function completed(data: Extract<Frame, { event: "tool.completed" }>["data"]): string {
    const { tool_call_id: toolCallId, status, result, error, files = [] } = data;
    if (status === "completed")
      return (
        line({ type: "tool-output-available", toolCallId, output: result ?? null }) +
        files.map((file) => line({ type: "data-file", id: file.id, data: file })).join("")
      );
    if (status !== "rejected" || !isDecidedHere(toolCallId))
      return line({ type: "tool-output-error", toolCallId, errorText: error?.message ?? status });
    const decided = { type: "tool-approval-response", approvalId: toolCallId, approved: false, reason: error?.message };
    return line(decided) + line({ type: "tool-output-denied", toolCallId });
  }

  const finish = (reason: string, messageMetadata?: object): string =>
    `${endStep()}${line({ type: "finish", finishReason: reason, messageMetadata })}data: [DONE]\n\n`;

  function encodeEvent(frame: Frame, answer: ModelAnswer | null): string {
    switch (frame.event) {
      case "run.queued":
        return line({ type: "data-queued", data: { position: frame.data.queue_position }, transient: true });
      case "run.steered":
        steered.push({ id: frame.data.message_id, content: frame.data.content });
        return "";
      case "step.started":
        return frame.data.type === "model_call" ? beginStep(frame.data.step_index) : "";
      case "step.restarted":
        if (frame.data.step_index !== step.index) return "";
        part.id = "";
        part.kind = "";
        step.isSaid = false;
        return line({ type: "reset-step" });
      case "step.completed": {
        if (frame.data.type !== "model_call") return "";
        finishReason = finishOf[answer?.finish ?? ""] ?? "stop";
        return endPart();
      }
      case "memory.retrieved":
        return frame.data.matches.map(sourceOf).map(line).join("");
      case "tool.requested": {
        const { tool_call_id, tool: name, type, args, needs } = frame.data;
        if (needs === "output") askedKeys.add(keyOf({ tool_call_id, needs }));
        return announceTool({ tool_call_id, name, type, arguments: args }, needs !== "output");
      }
      case "tool.decided": {
        const { tool_call_id: approvalId, decision, reason } = frame.data;
        const isShown = decision === "approve" && isDecidedHere(approvalId);
        const why = reason !== null && { reason };
        return isShown ? line({ type: "tool-approval-response", approvalId, approved: true, ...why }) : "";
      }
      case "tool.progress": {
        const { tool_call_id, progress, total, message, level } = frame.data;
        // Transient parts are for the page only: the client keeps them in no message.
        const data = { tool_call_id, progress, total, message, level };
        return line({ type: "data-tool-progress", data, transient: true });
      }
      case "tool.completed":
        return completed(frame.data);
      case "run.requires_action": {
        const { submit_tool_outputs, authorizations = [] } = frame.data.required_action;
        const calls = submit_tool_outputs.tool_calls.map(ask).join("");
        const consents = authorizations.map(consentOf).map(line).join("");
        return endPart() + calls + consents + (isWait(frame) ? finish("tool-calls") : "");
      }
      case "run.completed": {
        const { output, output_json, usage } = frame.data;
        // The output was not streamed, for example because a guardrail changed it.
        const whole = output && !step.isSaid ? writeText("text", output) : "";
        const data = output_json === null ? "" : line({ type: "data-output", id: "output", data: output_json });
        return whole + endPart() + data + finish(finishReason, { usage });
      }
      case "run.failed": {
        const { status, error } = frame.data;
        // `interrupted` tells the client not to continue by itself.
        if (status === "cancelled")
          return endPart() + line({ type: "abort", reason: error.message }) + finish("interrupted");
        const { code, message } = error;
        const metadataLine = line({ type: "message-metadata", messageMetadata: { error: { code, message } } });
        return `${endStep()}${metadataLine}${fault(message)}data: [DONE]\n\n`;
      }
      default:
        return "";
    }
  }

  /** A consent ends no stream: the run goes on by itself once it is given. */
  const isWait = (frame: Frame): boolean =>
    frame.event === "run.requires_action" &&
    frame.data.required_action.type === "submit_tool_outputs" &&
    answers &&
    frame.seq > answered;

  return {
    begin(id) {
      messageId = answerId(run_id, id);
      steered = steered.filter((one) => one.id !== id);
      isBegun = false;
      step = { index: -1, isOpen: false, isSaid: false };
      part = { id: "", kind: "", count: 0 };
      return begin();
    },
    finish: () => finish("stop"),
    event: (frame, answer = null) => begin() + encodeEvent(frame, answer),
    token: ({ kind, text }) => begin() + writeText(kind === "output" ? "text" : "reasoning", text),
    // The text so far is incomplete: the client resumes when the server is back.
    closing: fault(stoppingRun),
    error: (why) => fault(why.message),
    isLast: (frame) => isLastFrame(frame.event) || isWait(frame),
  };
}

/** Transient, because its address expires and belongs in no stored message. */
const consentOf = ({ oauth_client_id, name, url, expires_at }: RequiredAuthorization) => ({
  type: "data-authorization",
  id: oauth_client_id,
  data: { name, url, expires_at },
  transient: true,
});

const steeringOf = ({ id, content }: { id: string; content: string }) => ({
  type: "steering-message",
  id,
  parts: [{ type: "text", text: content }],
});

const fault = (errorText: string): string => line({ type: "error", errorText });

/** A passage of a memory store that the model was shown. */
const sourceOf = ({
  entry_id,
  filename,
  chunk_index,
}: {
  entry_id: string;
  filename: string | null;
  chunk_index: number;
}) => ({
  type: "source-document",
  sourceId: `${entry_id}-${chunk_index}`,
  mediaType: "text/plain",
  title: filename ?? entry_id,
  ...(filename !== null && { filename }),
});
