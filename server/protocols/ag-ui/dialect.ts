import { type Frame, isLastFrame } from "../../domain/api-types/frames.ts";
import { stoppingRun } from "../../domain/error-messages.ts";
import type { RequiredActionObject, RequiredCallObject } from "../../domain/required-action.ts";
import type { ChatEncoder } from "../chat-streams.ts";
import type { StreamedRun } from "../conversations.ts";

interface KnownMessage {
  id?: string;
  toolCallId?: string;
}

interface Streamed extends Pick<StreamedRun, "run_id" | "answered" | "answers"> {
  threadId: string;
  /** Run id of the client. The run may have been started earlier, under another id. */
  runId: string;
  /** Messages that the client has. */
  messages: readonly KnownMessage[];
  /** Calls with a result in `messages`. */
  results: ReadonlySet<string>;
  /** Calls that the client knows. */
  told: Iterable<string>;
  /** True if the client speaks 1.0. Older ones reject outcomes that they do not know. */
  isCurrent: boolean;
  /** True if the stream begins with a snapshot of the messages. */
  snapshot: boolean;
}

const protocolVersion = "1.0";

/** Id of an interrupt: the waiting run and the call. */
const interruptId = (runId: string, callId: string): string => `${runId}/${callId}`;

/** Schema of the response to an approval. */
const decisionSchema = {
  type: "object",
  properties: { approved: { type: "boolean" }, reason: { type: "string" } },
  required: ["approved"],
};

const line = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;

/** A message that is being streamed. */
interface Open {
  kind: "TEXT" | "REASONING";
  id: string;
  text: string;
}

interface Message {
  id: string;
  role: "assistant" | "tool" | "user";
  content?: string;
  toolCallId?: string;
  toolCalls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
}

/** Events for a conversation without an active run. */
export const agUiTold = (threadId: string, runId: string, messages: readonly object[]): string =>
  line({ type: "RUN_STARTED", threadId, runId, protocolVersion }) +
  line({ type: "MESSAGES_SNAPSHOT", messages }) +
  line({ type: "RUN_FINISHED", threadId, runId, outcome: { type: "success" } });

/** Encodes a run as AG-UI events: each model call is an assistant message, and each step a step of the protocol. */
export function agUiDialect(of: Streamed): ChatEncoder {
  const { threadId, runId, run_id, answered, answers } = of;
  let isBegun = false;
  let open: Open | null = null;
  /**
   * The current model call: its message id, the length of `said` before it, and the number of its texts and reasonings.
   */
  let turn = { step: -1, id: run_id, from: 0, TEXT: 0, REASONING: 0 };
  const steps = new Set<string>();
  /** Messages of this stream. */
  const streamedMessages: Message[] = [];
  /** Messages before those. */
  let knownMessages: readonly KnownMessage[] = of.messages;
  /** Messages to the run that no model call has had yet. */
  let steered: { id: string; role: "user"; content: string }[] = [];
  const announcedCalls = new Set(of.told);
  let usage = noUsage;

  function begin(): string {
    if (isBegun) return "";
    isBegun = true;
    const first = line({ type: "RUN_STARTED", threadId, runId, protocolVersion, metadata: { run_id } });
    return first + (of.snapshot ? line({ type: "MESSAGES_SNAPSHOT", messages: of.messages }) : "");
  }

  /** Begins behind the answer that the client's newest message has met: earlier texts come as a snapshot. */
  function beginAfter(id: string): string {
    const calls = new Set(streamedMessages.map(({ toolCallId }) => toolCallId));
    const isStreamed = ({ id, toolCallId }: KnownMessage) =>
      id?.startsWith(`${run_id}-`) || (toolCallId && calls.has(toolCallId));
    knownMessages = of.messages.slice(0, -1).filter((message) => !isStreamed(message));
    const newest = of.messages.at(-1);
    if (newest) streamedMessages.push(newest as Message);
    steered = steered.filter((message) => message.id !== id);
    steps.clear();
    usage = noUsage;
    isBegun = false;
    return begin() + snapshot();
  }

  const snapshot = (): string => line({ type: "MESSAGES_SNAPSHOT", messages: [...knownMessages, ...streamedMessages] });

  /** Tells the client the messages to the run that the next model call has. */
  function tellSteered(): string {
    const texts = steered.map(({ id, content }) => {
      const delta = content === "" ? "" : line({ type: "TEXT_MESSAGE_CONTENT", messageId: id, delta: content });
      return `${line({ type: "TEXT_MESSAGE_START", messageId: id, role: "user" })}${delta}${line({ type: "TEXT_MESSAGE_END", messageId: id })}`;
    });
    streamedMessages.push(...steered);
    steered = [];
    return texts.join("");
  }

  function close(): string {
    if (!open) return "";
    const { kind, id, text } = open;
    open = null;
    if (kind === "REASONING")
      return line({ type: "REASONING_MESSAGE_END", messageId: id }) + line({ type: "REASONING_END", messageId: id });
    streamedMessages.push({ id, role: "assistant", content: text });
    return line({ type: "TEXT_MESSAGE_END", messageId: id });
  }

  function writeText(kind: Open["kind"], delta: string): string {
    const isText = kind === "TEXT";
    let opening = "";
    if (open?.kind !== kind) {
      opening = close();
      const count = turn[kind]++;
      // The first text shares the id of the message that holds the calls.
      const id = isText && count === 0 ? turn.id : `${turn.id}-${isText ? "text" : "reasoning"}-${count}`;
      open = { kind, id, text: "" };
      opening += isText
        ? line({ type: "TEXT_MESSAGE_START", messageId: id, role: "assistant" })
        : line({ type: "REASONING_START", messageId: id }) +
          line({ type: "REASONING_MESSAGE_START", messageId: id, role: "reasoning" });
    }
    open.text += delta;
    const type = isText ? "TEXT_MESSAGE_CONTENT" : "REASONING_MESSAGE_CONTENT";
    return `${opening}data: {"type":"${type}","messageId":"${open.id}","delta":${JSON.stringify(delta)}}\n\n`;
  }

  /** Takes back the text of a failed model call by a snapshot of all other messages. */
  function takeBack(): string {
    const hasText = open !== null || streamedMessages.length > turn.from;
    const closed = close();
    streamedMessages.length = turn.from;
    return hasText ? closed + snapshot() : "";
  }

  function call({
    tool_call_id: id,
    name,
    arguments: args,
  }: Pick<RequiredCallObject, "tool_call_id" | "name" | "arguments">): string {
    if (announcedCalls.has(id)) return "";
    announcedCalls.add(id);
    const delta = JSON.stringify(args);
    const holder = streamedMessages.find((message) => message.id === turn.id) ?? {
      id: turn.id,
      role: "assistant" as const,
    };
    if (!streamedMessages.includes(holder)) streamedMessages.push(holder);
    holder.toolCalls = [...(holder.toolCalls ?? []), { id, type: "function", function: { name, arguments: delta } }];
    return (
      line({ type: "TOOL_CALL_START", toolCallId: id, toolCallName: name, parentMessageId: turn.id }) +
      line({ type: "TOOL_CALL_ARGS", toolCallId: id, delta }) +
      line({ type: "TOOL_CALL_END", toolCallId: id })
    );
  }

  function result({
    tool_call_id,
    result: output,
    error,
  }: Extract<Frame, { event: "tool.completed" }>["data"]): string {
    if (of.results.has(tool_call_id)) return "";
    const message = {
      id: `${tool_call_id}-result`,
      role: "tool" as const,
      content: error ? error.message : textOf(output),
    };
    streamedMessages.push({ ...message, toolCallId: tool_call_id });
    return line({
      type: "TOOL_CALL_RESULT",
      messageId: message.id,
      toolCallId: tool_call_id,
      content: message.content,
      role: "tool",
    });
  }

  function step(name: string, isBegin: boolean): string {
    if (isBegin) steps.add(name);
    else if (!steps.delete(name)) return "";
    return line({ type: isBegin ? "STEP_STARTED" : "STEP_FINISHED", stepName: name });
  }

  const endSteps = (): string => close() + [...steps].map((name) => step(name, false)).join("");

  function finish(outcome: object, result: unknown = null): string {
    const whole = result === null ? {} : { result };
    const usageField = usage.totalTokens > 0 ? { usage: [usage] } : {};
    return endSteps() + line({ type: "RUN_FINISHED", threadId, runId, outcome, ...whole, ...usageField });
  }

  function waits(calls: readonly RequiredCallObject[]): string {
    const announced = close() + calls.map(call).join("");
    const decisions = calls.filter(({ needs }) => needs !== "output");
    if (decisions.length > 0)
      return announced + finish({ type: "interrupt", interrupts: decisions.map((one) => interruptOf(run_id, one)) });
    const pending = of.isCurrent && { pendingToolCallIds: calls.map(({ tool_call_id }) => tool_call_id) };
    return announced + finish({ type: "success", ...pending });
  }

  function count({ usage: of }: Extract<Frame, { event: "step.completed" }>["data"]): void {
    if (!of) return;
    const [input, output] = [of.input_tokens ?? 0, of.output_tokens ?? 0];
    usage = {
      inputTokens: usage.inputTokens + input,
      outputTokens: usage.outputTokens + output,
      totalTokens: usage.totalTokens + input + output,
      reasoningTokens: usage.reasoningTokens + (of.reasoning_tokens ?? 0),
      cachedInputTokens: usage.cachedInputTokens + (of.cached_input_tokens ?? 0),
    };
  }

  function encodeEvent(frame: Frame): string {
    switch (frame.event) {
      case "run.queued":
        return custom("queued", { position: frame.data.queue_position });
      case "run.steered":
        steered.push({ id: frame.data.message_id, role: "user", content: frame.data.content });
        return "";
      case "step.started": {
        const { type, step_index } = frame.data;
        const told = type === "model_call" ? close() + tellSteered() : close();
        if (type === "model_call")
          turn = {
            step: step_index,
            id: `${run_id}-${frame.seq}`,
            from: streamedMessages.length,
            TEXT: 0,
            REASONING: 0,
          };
        return told + step(`${type} ${step_index}`, true);
      }
      case "step.restarted": {
        if (frame.data.step_index !== turn.step) return "";
        const retraction = takeBack();
        turn = { ...turn, id: `${run_id}-${frame.seq}`, TEXT: 0, REASONING: 0 };
        return retraction;
      }
      case "step.completed":
        count(frame.data);
        return close() + step(`${frame.data.type} ${frame.data.step_index}`, false);
      case "memory.retrieved":
        return frame.data.matches.length > 0 ? custom("retrieved", { matches: frame.data.matches }) : "";
      case "tool.requested": {
        const { tool_call_id, tool: name, args } = frame.data;
        return close() + call({ tool_call_id, name, arguments: args });
      }
      case "tool.progress": {
        const { tool_call_id, progress, total, message, level } = frame.data;
        return custom("tool_progress", { tool_call_id, progress, total, message, level });
      }
      case "tool.completed":
        return result(frame.data);
      case "run.requires_action":
        return consents(frame.data.required_action) + (isWait(frame) ? waits(callsOf(frame)) : "");
      case "run.completed": {
        const { output, output_json } = frame.data;
        // The output was not streamed, for example because a guardrail changed it.
        const whole = output && turn.TEXT === 0 ? writeText("TEXT", output) : "";
        const state = output_json === null ? "" : line({ type: "STATE_SNAPSHOT", snapshot: output_json });
        return whole + close() + state + finish({ type: "success" }, output_json);
      }
      case "run.failed": {
        const { status, error } = frame.data;
        const isCancelled = status === "cancelled" && of.isCurrent;
        return isCancelled ? finish({ type: "cancelled" }) : endSteps() + fault(error.code, error.message);
      }
      default:
        return "";
    }
  }

  /** A consent ends no stream: the run goes on by itself once it is given. */
  const consents = ({ authorizations = [] }: RequiredActionObject): string =>
    authorizations.length > 0
      ? custom("authorization_required", {
          authorizations: authorizations.map(({ name, url, expires_at }) => ({ name, url, expires_at })),
        })
      : "";

  const isWait = (frame: Frame): frame is Asking =>
    frame.event === "run.requires_action" && callsOf(frame).length > 0 && answers && frame.seq > answered;

  return {
    begin: beginAfter,
    finish: () => begin() + finish({ type: "success" }),
    event: (frame) => begin() + encodeEvent(frame),
    token: ({ kind, text }) => begin() + writeText(kind === "output" ? "TEXT" : "REASONING", text),
    // The text so far is incomplete.
    closing: fault("shutting_down", stoppingRun),
    error: ({ code, message }) => fault(code, message),
    isLast: (frame) => isLastFrame(frame.event) || isWait(frame),
  };
}

type Asking = Extract<Frame, { event: "run.requires_action" }>;

const callsOf = ({ data }: Asking): readonly RequiredCallObject[] =>
  data.required_action.submit_tool_outputs.tool_calls;

const noUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0, reasoningTokens: 0, cachedInputTokens: 0 };

const textOf = (output: unknown): string => (typeof output === "string" ? output : JSON.stringify(output ?? null));

const fault = (code: string, message: string): string => line({ type: "RUN_ERROR", message, code });

const custom = (name: string, value: object): string => line({ type: "CUSTOM", name: `runnel.${name}`, value });

const interruptOf = (runId: string, { tool_call_id, name, needs, elicitation, expires_at }: RequiredCallObject) => ({
  id: elicitation ? `${interruptId(runId, tool_call_id)}/${elicitation.id}` : interruptId(runId, tool_call_id),
  toolCallId: tool_call_id,
  responseSchema: elicitation ? (elicitation.requested_schema ?? { type: "object" }) : decisionSchema,
  expiresAt: expires_at,
  ...(elicitation
    ? { reason: "elicitation", message: [elicitation.message, elicitation.url].filter(Boolean).join("\n") }
    : needs === "approval"
      ? { reason: "tool_approval", message: `Shall ${name} be called?` }
      : { reason: "outcome_unknown", message: `Whether ${name} was done is not known. Shall it be done (again)?` }),
});
