import { mostTurns } from "../../../../server/domain/agent-snapshot.ts";
import type { FailoverReason } from "../../../../server/domain/failover.ts";
import { limits } from "../../../../server/domain/limits.ts";
import type { PromptCaching } from "../../../../server/domain/model-call.ts";
import { type ProtocolName, protocolNames } from "../../../../server/domain/protocols.ts";
import type { ToolLoading } from "../../../../server/domain/tool-search/search-tool.ts";
import { parseExact } from "../../../../server/lib/exact-numbers.ts";
import { jsonText } from "../../lib/json-text.ts";
import type { Definition } from "./definition.ts";
import { fromVariableRow, toVariableRow, type VariableRow } from "./variable-rows.ts";

/** Form state of an agent: all fields as text or as typed. */
export interface Draft {
  name: string;
  description: string;
  instructions: string;
  variables: VariableRow[];
  /** Each as `name` or `name@version`. */
  snippets: string[];
  model: string;
  /** Models that are asked after `model`, in their order. */
  fallbacks: string[];
  /** Failures after which the next model is asked; null: the default. */
  failover_on: FailoverReason[] | null;
  temperature: string;
  max_output_tokens: string;
  reasoning_effort: string;
  parallel_tool_calls: "" | "true" | "false";
  prompt_caching: PromptCaching;
  script: string;
  /** JSON of settings without a control of their own, kept unchanged. */
  other_settings: string;
  tools: string[];
  tool_loading: ToolLoading;
  skills: Definition["skills"];
  max_turns: string;
  max_cost_usd: string;
  max_total_tokens: string;
  max_tool_calls: string;
  max_wall_ms: string;
  /** JSON; empty for none. */
  guardrails: string;
  /** JSON; empty for none. */
  provider_tools: string;
  /** JSON; empty for the default. */
  memory: string;
  output_schema: string;
  input_schema: string;
  /** JSON; empty for none. */
  handoffs: string;
  doors: ProtocolName[];
  metadata: string;
}

type DraftField = keyof Draft;
export type Faults = Partial<Record<DraftField, string>>;

export interface Range {
  least: number;
  most: number;
  isWhole?: boolean;
}

/** Parses typed values and collects errors. */
export interface DraftReader {
  /** Returns a required text; `missing` is the error if it is empty. */
  required(field: "name" | "instructions" | "model", missing: string): string;
  number(field: DraftField, range?: Range): number | undefined;
  json(
    field:
      | "guardrails"
      | "provider_tools"
      | "handoffs"
      | "memory"
      | "output_schema"
      | "input_schema"
      | "metadata"
      | "script",
    kind: "list" | "object",
  ): unknown;
}

interface AgentField {
  word: string;
  /** Form value of the definition; without one, of a new agent. */
  typed(definition: Definition | undefined): Partial<Draft>;
  /** API value of the form's value. */
  read(draft: Draft, reader: DraftReader): unknown;
}

/** Fields of a definition, in display order. */
export const formFields: Record<keyof Definition, AgentField> = {
  name: {
    word: "Name",
    typed: (it) => ({ name: it?.name ?? "" }),
    read: (_, { required }) => required("name", "Enter a name.").trim(),
  },
  description: {
    word: "Description",
    typed: (it) => ({ description: text(it?.description) }),
    read: ({ description }) => (description.trim() === "" ? null : description),
  },
  instructions: {
    word: "Instructions",
    typed: (it) => ({ instructions: it?.instructions ?? "" }),
    read: (_, { required }) => required("instructions", "Enter the instructions."),
  },
  variables: {
    word: "Variables",
    typed: (it) => ({ variables: (it?.variables ?? []).map(toVariableRow) }),
    read: ({ variables }) => variables.map(fromVariableRow),
  },
  snippets: {
    word: "Snippets",
    typed: (it) => ({ snippets: it?.snippets ?? [] }),
    read: ({ snippets }) => snippets,
  },
  model: {
    word: "Model",
    typed: (it) => ({ model: it?.model ?? "" }),
    read: (_, { required }) => required("model", "Choose a model, such as test/echo.").trim(),
  },
  models: {
    word: "Models",
    typed: (it) => ({ fallbacks: it?.models?.slice(1) ?? [] }),
    read: (draft) => {
      const named = namedFallbacks(draft).map((row) => draft.fallbacks[row]!.trim());
      return named.length > 0 ? [draft.model.trim(), ...named] : undefined;
    },
  },
  failover_on: {
    word: "Failover",
    typed: (it) => ({ failover_on: it?.failover_on ?? null }),
    read: ({ failover_on }) => failover_on,
  },
  model_settings: {
    word: "Model settings",
    typed({ model_settings: settings = {} } = {} as Definition) {
      const { temperature, max_output_tokens, reasoning_effort, parallel_tool_calls, script, ...others } = settings;
      return {
        temperature: text(temperature),
        max_output_tokens: text(max_output_tokens),
        reasoning_effort: text(reasoning_effort),
        parallel_tool_calls: text(parallel_tool_calls) as Draft["parallel_tool_calls"],
        script: json(script),
        other_settings: json(others),
      };
    },
    read: ({ reasoning_effort, parallel_tool_calls, other_settings }, { number, json }) =>
      present({
        ...(other_settings && parseExact<object>(other_settings)),
        temperature: number("temperature", { least: 0, most: limits.temperature }),
        max_output_tokens: number("max_output_tokens", { least: 1, most: limits.output_tokens, isWhole: true }),
        reasoning_effort: reasoning_effort || undefined,
        parallel_tool_calls: parallel_tool_calls === "" ? undefined : parallel_tool_calls === "true",
        script: json("script", "list"),
      }),
  },
  tools: {
    word: "Tools",
    typed: (it) => ({ tools: it?.tools.map(({ id }) => id) ?? [] }),
    read: ({ tools }) => tools,
  },
  tool_loading: {
    word: "Tool loading",
    typed: (it) => ({ tool_loading: it?.tool_loading ?? "auto" }),
    read: ({ tool_loading }) => tool_loading,
  },
  max_turns: {
    word: "Max model calls",
    typed: (it) => ({ max_turns: text(it?.max_turns ?? 25) }),
    read: (_, { number }) => number("max_turns", { least: 1, most: mostTurns, isWhole: true }) ?? 25,
  },
  budget: {
    word: "Budget",
    typed: (it) => ({
      max_cost_usd: text(it?.budget?.max_cost_usd),
      max_total_tokens: text(it?.budget?.max_total_tokens),
      max_tool_calls: text(it?.budget?.max_tool_calls),
      max_wall_ms: text(it?.budget?.max_wall_ms),
    }),
    read: (_, { number }) =>
      orNull(
        present({
          max_cost_usd: number("max_cost_usd"),
          max_total_tokens: number("max_total_tokens"),
          max_tool_calls: number("max_tool_calls"),
          max_wall_ms: number("max_wall_ms"),
        }),
      ),
  },
  guardrails: {
    word: "Guardrails",
    typed: (it) => ({ guardrails: json(it?.guardrails) }),
    read: (_, { json }) => json("guardrails", "list") ?? [],
  },
  provider_tools: {
    word: "Provider's tools",
    typed: (it) => ({ provider_tools: json(it?.provider_tools) }),
    read: (_, { json }) => json("provider_tools", "list") ?? [],
  },
  memory: {
    word: "Memory",
    // An agent without a stored policy reads no thread, but an omitted policy means the default, which does.
    typed: (it) => ({ memory: json(it && (it.memory ?? { history: { mode: "none" } })) }),
    read: (_, { json }) => json("memory", "object") ?? {},
  },
  output_schema: {
    word: "Output schema",
    typed: (it) => ({ output_schema: json(it?.output_schema) }),
    read: (_, { json }) => json("output_schema", "object") ?? null,
  },
  skills: {
    word: "Skills",
    typed: (it) => ({ skills: it?.skills ?? [] }),
    read: ({ skills }) => skills,
  },
  prompt_caching: {
    word: "Prompt caching",
    typed: (it) => ({ prompt_caching: it?.prompt_caching ?? "auto" }),
    read: ({ prompt_caching }) => prompt_caching,
  },
  handoffs: {
    word: "Handoffs",
    typed: (it) => ({ handoffs: json(it?.handoffs) }),
    read: (_, { json }) => json("handoffs", "list") ?? [],
  },
  input_schema: {
    word: "Input schema",
    typed: (it) => ({ input_schema: json(it?.input_schema) }),
    read: (_, { json }) => json("input_schema", "object") ?? null,
  },
  doors: {
    word: "Access",
    typed: (it) => ({ doors: protocolNames.filter((name) => it?.doors[name]) }),
    read: ({ doors }) => Object.fromEntries(protocolNames.map((name) => [name, doors.includes(name)])),
  },
  metadata: {
    word: "Metadata",
    typed: (it) => ({ metadata: json(it?.metadata) }),
    read: (_, { json }) => json("metadata", "object") ?? {},
  },
};

export type DefinitionField = keyof Definition;
export const formFieldNames = Object.keys(formFields) as DefinitionField[];

/** Limits of a single run. */
export const runLimits = [
  { field: "max_turns", label: formFields.max_turns.word, placeholder: "25" },
  { field: "max_cost_usd", label: "Max cost, USD", placeholder: "No limit" },
  { field: "max_total_tokens", label: "Max tokens", placeholder: "No limit" },
  { field: "max_tool_calls", label: "Max tool calls", placeholder: "No limit" },
  { field: "max_wall_ms", label: "Max time, ms", placeholder: "No limit" },
] as const;

const text = (value: unknown): string => (value === null || value === undefined ? "" : String(value));
const json = (value: unknown): string =>
  value === null || value === undefined || jsonText(value) === "{}" || jsonText(value) === "[]" ? "" : jsonText(value);

const present = (values: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

const orNull = (values: Record<string, unknown>) => (Object.keys(values).length === 0 ? null : values);

/** Returns the rows of fallback models that are sent: not the empty ones, and each model once. */
export function namedFallbacks({ model, fallbacks }: Pick<Draft, "model" | "fallbacks">): number[] {
  const known = new Set(["", model.trim()]);
  return fallbacks.flatMap((fallback, row) => {
    const name = fallback.trim();
    if (known.has(name)) return [];
    known.add(name);
    return [row];
  });
}
