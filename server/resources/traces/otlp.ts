import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import type { ModelRequest, ModelUsage } from "../../domain/model-call.ts";
import type { MemoryRetrieved, RunCreated } from "../../domain/run-event.ts";
import { contentText, messagesOf } from "../../domain/run-input.ts";
import type { RunState } from "../../domain/run-state.ts";
import { triggerOf } from "../../domain/run-trigger.ts";
import { skillsText } from "../../domain/skills-prompt.ts";
import { stepKinds } from "../../domain/step-kinds.ts";
import type { Trace, TraceStep } from "../../domain/trace.ts";
import { redact } from "../../lib/redact.ts";
import {
  attributes,
  nanoseconds,
  type OtlpAttribute,
  type OtlpEvent,
  type OtlpLink,
  type OtlpSpan,
  spanIdOf,
  spanKinds,
  statusError,
  traceIdOf,
} from "./otlp-json.ts";
import { inputMessages, outputMessages, promptMessage, shortJson, shortText } from "./otlp-messages.ts";
import { redactedJson } from "./redacted-json.ts";

// Our own mapping: OpenTelemetry's SDKs instrument a live process, but this exports recorded runs.

/**
 * Version of the OpenTelemetry semantic conventions for generative AI whose names are used here and in
 * otlp-messages.ts. Attributes beyond them begin with `runnel.`.
 */
export const semanticConventions = "1.41.0";

interface ExportedRun {
  trace: Trace;
  agent: AgentSnapshot;
  /** Topmost ancestor of the run; the run itself if it has no parent. */
  root: string;
  /** Source of a fork or replay, with the root of that run. */
  source: { run_id: string; root: string } | null;
}

export interface SpanOptions {
  /** True to include prompts, responses, arguments and results in the next span; otherwise only metrics. */
  content(): boolean;
  /** Prompts by step; for a step without one, only the new messages are exported. */
  prompts?: ReadonlyMap<string, ModelRequest | null>;
}

/** Spans of a run: one for the run and one per step. */
export function* spansOf(run: ExportedRun, options: SpanOptions): Generator<OtlpSpan> {
  yield runSpan(run, options);
  for (const step of run.trace.steps) yield stepSpan(run, step, options);
}

function runSpan({ trace, agent, root, source }: ExportedRun, options: SpanOptions): OtlpSpan {
  const content = options.content();
  const { state, recoveries, pauses } = trace;
  const run = state.run;
  const { run_id, parent_run_id, parent_call_id } = run;
  return {
    traceId: traceIdOf(root),
    spanId: runSpanId(run_id),
    ...(parent_run_id && parent_call_id && { parentSpanId: spanIdOf(parent_run_id, parent_call_id) }),
    name: shortText(`invoke_agent ${agent.name}`),
    kind: spanKinds.internal,
    ...times(state.started_at ?? state.created_at, state.ended_at ?? state.updated_at),
    attributes: [...runAttributes(state, agent), ...(content ? runContent(state, agent) : [])],
    events: [
      ...recoveries.map(({ attempt, at, step_index }) =>
        eventOf("runnel.recovery", at, { "runnel.attempt": attempt, "runnel.step.index": step_index }),
      ),
      ...pauses.flatMap(({ paused_at, completed_at }) => [
        ...(paused_at === null ? [] : [eventOf("runnel.paused", paused_at, {})]),
        ...(paused_at === null || completed_at === null ? [] : [eventOf("runnel.pause_ended", completed_at, {})]),
      ]),
    ],
    links: source ? [linkOf(state, source)] : [],
    status: state.status === "failed" ? statusOf(state.error, content) : {},
  };
}

const runSpanId = (runId: string): string => spanIdOf(runId, "run");

function runAttributes(state: RunState, agent: AgentSnapshot): OtlpAttribute[] {
  const run = state.run;
  const { usage } = state;
  const failure = state.status === "cancelled" ? "run_cancelled" : state.error?.code;
  return attributes({
    "gen_ai.operation.name": "invoke_agent",
    ...modelAttributes(run.model, agent),
    "gen_ai.agent.id": run.agent_id,
    "gen_ai.agent.name": shortText(agent.name),
    "gen_ai.agent.version": String(run.agent_version),
    "gen_ai.conversation.id": conversationOf(run),
    "gen_ai.usage.input_tokens": usage.input_tokens,
    "gen_ai.usage.output_tokens": usage.output_tokens,
    "gen_ai.usage.cache_read.input_tokens": usage.cached_input_tokens,
    "gen_ai.usage.cache_creation.input_tokens": writtenTokens(usage),
    "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens,
    "error.type": failure,
    "session.id": redactText(run.session_id),
    "user.id": redactText(run.user_id),
    "runnel.run.id": run.run_id,
    "runnel.run.status": state.status,
    "runnel.run.origin": triggerOf(run),
    "runnel.run.attempt": state.attempt,
    "runnel.project.id": run.project_id,
    "runnel.environment": run.environment,
    "runnel.cost_usd": usage.cost_usd === null ? null : { double: usage.cost_usd },
    "runnel.cost_estimated": usage.cost_estimated,
    ...Object.fromEntries(
      Object.entries(redactedJson(run.metadata)).map(([key, value]) => [`runnel.metadata.${key}`, value]),
    ),
  });
}

const conversationOf = ({ thread_id, session_id }: RunCreated): string | null => thread_id ?? redactText(session_id);

const redactText = (text: string | null): string | null => text && redact(text);

const runContent = ({ run, output }: RunState, agent: AgentSnapshot): OtlpAttribute[] =>
  attributes({
    "gen_ai.system_instructions": systemInstructions(agent),
    "gen_ai.input.messages": inputMessages(
      messagesOf(run).map((message) => ({ ...message, content: contentText(message.content) })),
    ),
    "gen_ai.output.messages": output === null ? null : outputMessages({ content: output, finish: "stop" }),
  });

const systemInstructions = (agent: AgentSnapshot): string =>
  shortJson([{ type: "text", content: shortText(agent.instructions + skillsText(agent)) }]);

/** Splits a model's full name. */
function modelIn(fullName: string): { connection: string; name: string } {
  const [connection = "", ...model] = fullName.split("/");
  return { connection, name: model.join("/") || fullName };
}

function modelAttributes(fullName: string, { settings, output_schema }: AgentSnapshot) {
  const { connection, name } = modelIn(fullName);
  return {
    "gen_ai.provider.name": providers[connection] ?? connection,
    "gen_ai.request.model": name,
    "gen_ai.request.max_tokens": settings.max_output_tokens,
    "gen_ai.request.temperature": settings.temperature === undefined ? null : { double: settings.temperature },
    "gen_ai.request.top_p": settings.top_p === undefined ? null : { double: settings.top_p },
    "gen_ai.output.type": output_schema ? "json" : "text",
  };
}

/** The conventions' names of providers, if they differ from those of connections. */
const providers: Record<string, string> = {
  google: "gcp.gemini",
  mistral: "mistral_ai",
  xai: "x_ai",
  bedrock: "aws.bedrock",
  azure: "azure.ai.openai",
};

/** Span id of a step. A tool call's is derived from the call id, because child runs need to know it. */
const stepSpanId = (runId: string, { type, id, tool_call_id }: TraceStep): string =>
  spanIdOf(runId, tool_call_id !== null && stepKinds[type].isCall ? tool_call_id : id);

function stepSpan({ trace, agent, root }: ExportedRun, step: TraceStep, options: SpanOptions): OtlpSpan {
  const content = options.content();
  const { state } = trace;
  const run = state.run;
  const kind = kindOf(step, state, agent, options.prompts?.get(step.id) ?? null);
  return {
    traceId: traceIdOf(root),
    spanId: stepSpanId(run.run_id, step),
    parentSpanId: runSpanId(run.run_id),
    name: shortText(kind.name),
    kind: kind.kind,
    ...times(Date.parse(step.started_at), step.completed_at ? Date.parse(step.completed_at) : state.updated_at),
    attributes: attributes({
      ...kind.attributes,
      ...(content && kind.content()),
      "gen_ai.conversation.id": conversationOf(run),
      "error.type": step.error?.code,
      "runnel.run.id": run.run_id,
      "runnel.step.id": step.id,
      "runnel.step.index": step.step_index,
      "runnel.step.turn": step.turn_index,
      "runnel.step.status": step.status,
      "runnel.step.attempt": step.attempt,
      "runnel.step.replayed": step.replayed,
    }),
    events: eventsOf(step, content),
    links: [],
    status: step.status === "failed" ? statusOf(step.error, content) : {},
  };
}

type Given = Parameters<typeof attributes>[0];

interface StepKind {
  name: string;
  kind: number;
  attributes: Given;
  /** Attributes that are omitted without content. */
  content(): Given;
}

function kindOf(step: TraceStep, state: RunState, agent: AgentSnapshot, prompt: ModelRequest | null): StepKind {
  if (step.type === "model_call") return modelCall(step, agent, prompt);
  if (stepKinds[step.type].isCall) return toolCall(step, state);
  if (step.type === "retrieval") return retrieval(step);
  return ownStep(step);
}

function modelCall(step: TraceStep, agent: AgentSnapshot, prompt: ModelRequest | null): StepKind {
  const { messages: newMessages = [] } = step.input as { messages?: Parameters<typeof inputMessages>[0] };
  const messages = prompt ? prompt.messages.filter(({ role }) => role !== "system").map(promptMessage) : newMessages;
  const modelOutput = step.output as Parameters<typeof outputMessages>[0] | null;
  const model = modelAttributes(step.model ?? step.name, agent);
  const first = step.time_to_first_token_ms;
  return {
    name: `chat ${model["gen_ai.request.model"]}`,
    kind: spanKinds.client,
    attributes: {
      "gen_ai.operation.name": "chat",
      ...model,
      "gen_ai.request.stream": true,
      "gen_ai.response.finish_reasons": step.finish_reason && [step.finish_reason],
      "gen_ai.response.time_to_first_chunk": first === null ? null : { double: first / 1000 },
      ...usageAttributes(step),
    },
    content: () => ({
      "gen_ai.system_instructions": prompt && systemInstructions(agent),
      "gen_ai.input.messages": inputMessages(messages),
      "gen_ai.output.messages":
        modelOutput && outputMessages({ ...modelOutput, reasoning: step.reasoning, finish: step.finish_reason }),
    }),
  };
}

/** Returns the prompt tokens written to a cache; null if they are not known. */
function writtenTokens({ cache_write_5m_tokens: short, cache_write_1h_tokens: long }: ModelUsage): number | null {
  if ((short ?? long ?? null) === null) return null;
  return (short ?? 0) + (long ?? 0);
}

const usageAttributes = ({ usage }: TraceStep): Given => ({
  "gen_ai.usage.input_tokens": usage?.input_tokens,
  "gen_ai.usage.output_tokens": usage?.output_tokens,
  "gen_ai.usage.cache_read.input_tokens": usage?.cached_input_tokens,
  "gen_ai.usage.cache_creation.input_tokens": usage && writtenTokens(usage),
  "gen_ai.usage.reasoning.output_tokens": usage?.reasoning_tokens,
  "runnel.usage.estimated": usage?.estimated,
  "runnel.cost_usd": typeof usage?.cost_usd === "number" ? { double: usage.cost_usd } : null,
  "runnel.cost_estimated": usage?.cost_estimated,
});

function toolCall(step: TraceStep, { calls }: RunState): StepKind {
  const type = calls.findLast(({ id }) => id === step.tool_call_id)?.type;
  return {
    name: `execute_tool ${step.name}`,
    kind: spanKinds.internal,
    attributes: {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": shortText(step.name),
      "gen_ai.tool.call.id": step.tool_call_id,
      "gen_ai.tool.type": type === "client" ? "function" : "extension",
      "runnel.tool.type": type,
      "runnel.subagent.run.id": step.subagent?.run_id,
    },
    content: () => ({
      "gen_ai.tool.call.arguments": shortJson(step.input),
      "gen_ai.tool.call.result": step.output === null ? null : shortJson(step.output),
    }),
  };
}

function retrieval(step: TraceStep): StepKind {
  const { query, stores } = step.input as { query: string; stores: MemoryRetrieved["stores"] | null };
  const found = step.output as Pick<MemoryRetrieved, "matches"> | null;
  const names = stores?.map(({ name }) => name).join(", ");
  return {
    name: names ? `retrieval ${names}` : "retrieval",
    kind: spanKinds.internal,
    attributes: {
      "gen_ai.operation.name": "retrieval",
      "gen_ai.data_source.id": stores && stores.length > 0 ? stores.map(({ memory_id }) => memory_id).join(",") : null,
      "runnel.retrieval.matches": found?.matches.length,
    },
    content: () => ({
      "gen_ai.retrieval.query.text": shortText(query),
      "gen_ai.retrieval.documents":
        found && shortJson(found.matches.map(({ entry_id, score }) => ({ id: entry_id, score }))),
    }),
  };
}

/** Steps without an operation in the conventions: guardrails and compactions. */
const ownStep = (step: TraceStep): StepKind => ({
  name: step.name === step.type ? step.type : `${step.type} ${step.name}`,
  kind: spanKinds.internal,
  attributes: {
    "runnel.step.type": step.type,
    "runnel.guardrail.verdict": (step.output as { verdict?: string } | null)?.verdict,
    ...usageAttributes(step),
  },
  content: () => ({
    "runnel.step.input": step.input === null ? null : shortJson(step.input),
    "runnel.step.output": step.output === null ? null : shortJson(step.output),
  }),
});

function eventsOf({ retries, approval }: TraceStep, content: boolean): OtlpEvent[] {
  const events = retries.map(({ attempt, at, model, reason, delay_ms }) =>
    eventOf("runnel.retry", at, {
      "runnel.attempt": attempt,
      "gen_ai.request.model": model && modelIn(model).name,
      "error.type": reason?.code,
      "exception.message": content && reason ? shortText(reason.message) : null,
      "runnel.delay_ms": delay_ms,
    }),
  );
  if (approval) {
    const { at, decision, edited } = approval;
    events.push(eventOf("runnel.approval", at, { "runnel.decision": decision, "runnel.edited": edited }));
  }
  return events;
}

const eventOf = (name: string, at: string, values: Given): OtlpEvent => ({
  timeUnixNano: nanoseconds(Date.parse(at)),
  name,
  attributes: attributes(values),
});

const linkOf = ({ run }: RunState, { run_id, root }: { run_id: string; root: string }): OtlpLink => ({
  traceId: traceIdOf(root),
  spanId: runSpanId(run_id),
  attributes: attributes({
    "runnel.link": run.replay_of === undefined ? "forked_from" : "replay_of",
    "runnel.run.id": run_id,
    "runnel.step.index": run.forked_from?.step_index,
  }),
});

const times = (begin: number, end: number) => ({
  startTimeUnixNano: nanoseconds(begin),
  endTimeUnixNano: nanoseconds(end),
});

/** Error messages may quote tools or models, so without content only `error.type` is exported. */
const statusOf = (error: { message: string } | null, content: boolean): OtlpSpan["status"] => ({
  code: statusError,
  ...(content && error && { message: shortText(error.message) }),
});
