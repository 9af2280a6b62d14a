import {
  type Definition,
  type DefinitionField,
  definitionFields,
  isSame,
  wireValue,
} from "../../entities/agent/definition.ts";
import { isJsonObject, jsonText, readJson } from "../../lib/json-text.ts";

/** An agent while somebody writes it: all fields as they are typed. */
export interface Draft {
  name: string;
  description: string;
  instructions: string;
  model: string;
  temperature: string;
  max_output_tokens: string;
  reasoning_effort: string;
  parallel_tool_calls: "" | "true" | "false";
  script: string;
  tools: string[];
  max_turns: string;
  max_cost_usd: string;
  max_total_tokens: string;
  max_tool_calls: string;
  max_wall_ms: string;
  /** JSON; empty for none. */
  guardrails: string;
  memory: string;
  output_schema: string;
  metadata: string;
}

export type DraftField = keyof Draft;
export type Faults = Partial<Record<DraftField, string>>;

const text = (value: unknown): string => (value === null || value === undefined ? "" : String(value));
const json = (value: unknown): string =>
  value === null || value === undefined || jsonText(value) === "{}" || jsonText(value) === "[]" ? "" : jsonText(value);

/** The draft of an agent as it is; without one, of a new one. */
export function draftOf(definition?: Definition): Draft {
  const { model_settings: settings = {}, budget } = definition ?? {};
  return {
    name: definition?.name ?? "",
    description: text(definition?.description),
    instructions: definition?.instructions ?? "",
    model: definition?.model ?? "",
    temperature: text(settings.temperature),
    max_output_tokens: text(settings.max_output_tokens),
    reasoning_effort: text(settings.reasoning_effort),
    parallel_tool_calls: text(settings.parallel_tool_calls) as Draft["parallel_tool_calls"],
    script: json(settings.script),
    tools: definition?.tools.map(({ id }) => id) ?? [],
    max_turns: text(definition?.max_turns ?? 25),
    max_cost_usd: text(budget?.max_cost_usd),
    max_total_tokens: text(budget?.max_total_tokens),
    max_tool_calls: text(budget?.max_tool_calls),
    max_wall_ms: text(budget?.max_wall_ms),
    guardrails: json(definition?.guardrails),
    memory: json(definition?.memory),
    output_schema: json(definition?.output_schema),
    metadata: json(definition?.metadata),
  };
}

/** What a draft says to the API, and what of it cannot be read yet. The rest is for the server to judge. */
export function readDraft(draft: Draft): { body: Record<DefinitionField, unknown>; faults: Faults } {
  const faults: Faults = {};
  const required = (field: "name" | "instructions" | "model") => {
    if (draft[field].trim() === "") faults[field] = missing[field];
    return field === "instructions" ? draft[field] : draft[field].trim();
  };
  const number = (field: DraftField): number | undefined => {
    const written = String(draft[field]).trim();
    if (written === "") return undefined;
    const value = Number(written.replaceAll(",", ""));
    if (!Number.isFinite(value)) faults[field] = `${written} is not a number.`;
    return value;
  };
  const parsed = (
    field: "guardrails" | "memory" | "output_schema" | "metadata" | "script",
    kind: "list" | "object",
  ) => {
    if (draft[field].trim() === "") return undefined;
    const { value, fault } = readJson(draft[field]);
    if (fault !== null) faults[field] = fault;
    else if (kind === "list" && !Array.isArray(value)) faults[field] = "This is a list: [ … ].";
    else if (kind === "object" && !isJsonObject(value)) faults[field] = "This is an object: { … }.";
    return value;
  };
  const body = {
    name: required("name"),
    description: draft.description.trim() === "" ? null : draft.description,
    instructions: required("instructions"),
    model: required("model"),
    model_settings: present({
      temperature: number("temperature"),
      max_output_tokens: number("max_output_tokens"),
      reasoning_effort: draft.reasoning_effort || undefined,
      parallel_tool_calls: draft.parallel_tool_calls === "" ? undefined : draft.parallel_tool_calls === "true",
      script: parsed("script", "list"),
    }),
    tools: draft.tools,
    max_turns: number("max_turns") ?? 25,
    output_schema: parsed("output_schema", "object") ?? null,
    guardrails: parsed("guardrails", "list") ?? [],
    budget: orNull(
      present({
        max_cost_usd: number("max_cost_usd"),
        max_total_tokens: number("max_total_tokens"),
        max_tool_calls: number("max_tool_calls"),
        max_wall_ms: number("max_wall_ms"),
      }),
    ),
    memory: parsed("memory", "object") ?? null,
    metadata: parsed("metadata", "object") ?? {},
  };
  return { body, faults };
}

const missing = {
  name: "Give the agent a name.",
  instructions: "Say what the agent is to do.",
  model: "Choose a model, such as test/echo.",
};

const present = (values: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

const orNull = (values: Record<string, unknown>) => (Object.keys(values).length === 0 ? null : values);

/** Of a draft, only what is different from what it began with. */
export function changesOf(draft: Draft, base: Definition): Partial<Record<DefinitionField, unknown>> {
  const { body } = readDraft(draft);
  const begun = readDraft(draftOf(base)).body;
  const changed = definitionFields.filter((field) => !isSame(body[field], begun[field]));
  return Object.fromEntries(changed.map((field) => [field, body[field]]));
}

/** A new agent's body: what has its default is left out. */
export function creationOf(draft: Draft): Record<string, unknown> {
  const { body } = readDraft(draft);
  const plain = readDraft({ ...draftOf(), name: "x", instructions: "x", model: "x" }).body;
  const said = definitionFields.filter(
    (field) => ["name", "instructions", "model"].includes(field) || !isSame(body[field], plain[field]),
  );
  return Object.fromEntries(said.map((field) => [field, body[field]]));
}

/** The body that makes an agent what it was at a version. Tools that are gone are left out. */
export function restorationOf(version: Definition, isThere: (toolId: string) => boolean): Record<string, unknown> {
  const all = definitionFields.map((field) => [field, wireValue(version, field)] as const);
  return { ...Object.fromEntries(all), tools: version.tools.map(({ id }) => id).filter(isThere) };
}
