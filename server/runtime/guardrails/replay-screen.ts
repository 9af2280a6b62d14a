import type { AgentSnapshot, Guardrail } from "../../domain/agent-snapshot.ts";
import { divergence, type LocatedDivergence } from "../../domain/divergence.ts";
import type { Finding } from "../../domain/guardrail-event.ts";
import { activeAgent } from "../../domain/handoff.ts";
import type { GuardrailVerdict, JournalEntry, RunEvent } from "../../domain/run-event.ts";
import type { RecordedInput } from "../../domain/run-input.ts";
import type { InitialState, RunState } from "../../domain/run-state.ts";
import { textOf } from "../../domain/text-of.ts";
import { canonicalJson } from "../../lib/canonical-json.ts";
import { type CompiledGuardrails, compileGuardrails, withoutKinds } from "./compile.ts";
import { searchInSlices, textsOf } from "./in-slices.ts";
import { screenCall, screenOutput, screenText } from "./inspect.ts";

/**
 * Compares an agent's guardrails with those that were in effect for a recording. Checks the recorded texts only with
 * guardrails that differ; the others have already been applied. Judges are not asked, because they are models.
 */
export function createReplayScreen(agent: AgentSnapshot, pinned: AgentSnapshot) {
  /** Differences of the agents that answer by turns, after handoffs. */
  const byAgent = new Map<string, Differences>();
  function differencesAt(state: RunState | InitialState): Differences {
    const [now, then] = [activeAgent(state, agent), activeAgent(state, pinned)];
    const found = byAgent.get(then.id) ?? differences(now, then);
    byAgent.set(then.id, found);
    return found;
  }

  return async (entry: JournalEntry, before: RunState | InitialState): Promise<LocatedDivergence[]> => {
    const { event } = entry;
    const { newGuardrails, dropped } = differencesAt(before);
    if (event.type === "guardrail.decided") {
      const rule = activeAgent(before, pinned).guardrails?.[event.guardrail.index];
      return dropped.has(rule) ? lost(entry, event) : [];
    }
    const screening = newGuardrails.length > 0 ? await screenEvent(newGuardrails, event, before) : null;
    if (!screening) return [];
    return screening.findings.flatMap(({ guardrail: { type, on }, verdict, message }) => {
      if (!changes(verdict)) return [];
      const [then, now] = [
        { type, on, verdict: "passed" },
        { type, on, verdict },
      ];
      return divergence(entry, screening.step_index, "guardrail", `${type} on ${on}: ${message}`, then, now) ?? [];
    });
  };
}

interface Differences {
  newGuardrails: CompiledGuardrails;
  dropped: ReadonlySet<Guardrail | undefined>;
}

const differences = (agent: AgentSnapshot, pinned: AgentSnapshot): Differences => ({
  newGuardrails: compileGuardrails(without(agent.guardrails, pinned.guardrails)),
  dropped: new Set<Guardrail | undefined>(without(pinned.guardrails, agent.guardrails)),
});

const changes = (verdict: GuardrailVerdict): boolean => verdict !== "passed" && verdict !== "flagged";

/** Returns the guardrails, except judges, that are not in the other list. */
function without(list: readonly Guardrail[] = [], others: readonly Guardrail[] = []): Guardrail[] {
  const known = new Set(others.map(canonicalJson));
  return list.filter((one) => one.type !== "llm_judge" && !known.has(canonicalJson(one)));
}

/** Reports a recorded verdict of a guardrail that was since removed or replaced. */
function lost(
  entry: JournalEntry,
  { guardrail: { type, on }, verdict, step_index }: Extract<RunEvent, { type: "guardrail.decided" }>,
): LocatedDivergence[] {
  if (!changes(verdict)) return [];
  const [then, now] = [
    { type, on, verdict },
    { type, on, verdict: "passed" },
  ];
  const message = `The guardrail ${type} that the record has on ${on} was removed or replaced.`;
  return [divergence(entry, step_index, "guardrail", message, then, now)].filter((found) => found !== null);
}

interface Looked {
  step_index: number;
  findings: readonly Finding[];
}

async function screenEvent(
  list: CompiledGuardrails,
  event: RunEvent,
  before: RunState | InitialState,
): Promise<Looked | null> {
  switch (event.type) {
    case "run.created":
      return { step_index: 0, findings: await onMessages(list, event) };
    case "documents.attached": {
      const texts = event.documents.flatMap(({ text }) => text ?? []);
      const findings = await Promise.all(texts.map((text) => onInput(withoutKinds(list, "shape", "length"), text)));
      return { step_index: Math.max(0, before.steps - 1), findings: findings.flat() };
    }
    case "memory.retrieved": {
      const texts = event.matches.map(({ text }) => text);
      const findings = await Promise.all(texts.map((text) => onOutput(withoutKinds(list, "shape", "length"), text)));
      return { step_index: event.step_index, findings: findings.flat() };
    }
    case "step.completed":
      return event.step_type === "model_call" && event.status === "completed" ? onAnswer(list, event) : null;
    case "tool.requested": {
      const { id, tool, type, arguments: args, step_index } = event.call;
      if (before.calls.some((call) => call.id === id)) return null;
      const known = await searchInSlices(list, "tool_call", textsOf(args));
      return { step_index, findings: screenCall(known, { tool, type, arguments: args }).triggered };
    }
    case "tool.completed":
      if (event.status !== "completed") return null;
      return {
        step_index: event.step_index,
        findings: await onOutput(event.files ? withoutKinds(list, "shape", "length") : list, event.output),
      };
    default:
      return null;
  }
}

const onInput = async (list: CompiledGuardrails, text: string): Promise<readonly Finding[]> =>
  screenText(await searchInSlices(list, "input", [text]), "input", text).triggered;

async function onMessages(list: CompiledGuardrails, { input, earlier = [] }: RecordedInput): Promise<Finding[]> {
  const [ofTexts, ofArguments] = [withoutKinds(list, "shape"), withoutKinds(list, "shape", "length")];
  const before = earlier.flatMap(({ content, tool_calls = [] }) => [
    onInput(ofTexts, content),
    ...tool_calls.flatMap((call) => textsOf(call.arguments).map((text) => onInput(ofArguments, text))),
  ]);
  return [...(await Promise.all(before)).flat(), ...(await onInput(list, input))];
}

const onOutput = async (list: CompiledGuardrails, output: unknown): Promise<readonly Finding[]> =>
  screenOutput(await searchInSlices(list, "tool_output", textsOf(output)), output).triggered;

/** Checks an answer; one that asks for tools need not fit a schema. */
async function onAnswer(
  list: CompiledGuardrails,
  { answer, step_index }: Extract<RunEvent, { type: "step.completed" }>,
): Promise<Looked | null> {
  const parts = answer?.parts ?? [];
  const text = textOf(parts);
  const isFinal = !parts.some(({ type }) => type === "tool_call");
  const guardrails = isFinal ? list : withoutKinds(list, "shape");
  const known = await searchInSlices(guardrails, "output", [text]);
  return { step_index, findings: screenText(known, "output", text).triggered };
}
