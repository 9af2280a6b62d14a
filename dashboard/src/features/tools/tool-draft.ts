import type { ToolType } from "../../../../server/domain/agent-snapshot.ts";
import type { Tool } from "../../../../server/resources/tools/schema.ts";
import { type FieldErrors, serverFieldErrors } from "../../lib/field-errors.ts";
import { isJsonObject, jsonText, readJson } from "../../lib/json-text.ts";
import { type CommonDraft, type DraftReader, numberText, type TextField } from "./types/tool-part.ts";
import { type ToolDraft, toolParts, toolTypeOrder } from "./types/tool-parts.ts";

/** Form draft of a tool; without one, of a new tool. */
export function toolDraftOf(tool?: Tool): ToolDraft {
  const isRule = typeof tool?.approval === "object";
  const parameters = tool?.parameters ?? { type: "object", properties: {} };
  const common: CommonDraft = {
    name: tool?.name ?? "",
    description: tool?.description ?? "",
    parameters: jsonText(parameters),
    approval: typeof tool?.approval === "object" ? "when" : (tool?.approval ?? "never"),
    when: isRule ? jsonText((tool.approval as { when: object }).when) : "",
    on_unknown: tool?.on_unknown ?? "ask",
    max_output_bytes: numberText(tool?.max_output_bytes),
    enabled: tool?.enabled ?? true,
    headers: Object.entries(tool?.headers ?? {}).map(([name, value]) => ({ name, value })),
    auth: tool?.auth?.oauth_client_id ?? "",
    auth_per_user: false,
    timeout_ms: numberText(tool?.timeout_ms),
  };
  return Object.assign(common, ...toolTypeOrder.map((type) => toolParts[type].draftOf(tool)));
}

/** True if tools of this type declare their own parameters. */
export const hasParameters = (type: ToolType, draft: ToolDraft): boolean =>
  toolParts[type].hasParameters?.(draft) ?? true;

/** Converts a draft to an API body, with errors for the fields that cannot be parsed. */
export function readToolDraft(
  type: ToolType,
  draft: ToolDraft,
): { body: Record<string, unknown>; faults: FieldErrors<ToolDraft> } {
  const faults: FieldErrors<ToolDraft> = {};
  const reader: DraftReader<TextField<ToolDraft>> = {
    required(field, missing) {
      if (draft[field].trim() === "") faults[field] = missing;
      return draft[field].trim();
    },
    number(field) {
      const fieldText = draft[field].trim();
      if (fieldText === "") return undefined;
      if (!/^\d+$/.test(fieldText)) faults[field] = `${fieldText} is not a whole number.`;
      return Number(fieldText);
    },
    list(field) {
      if (draft[field].trim() === "") return null;
      const { value, fault } = readJson(draft[field]);
      if (fault !== null) faults[field] = fault;
      else if (!Array.isArray(value)) faults[field] = "Must be a list: [ … ].";
      return value;
    },
    headers: () =>
      Object.fromEntries(draft.headers.filter(({ name }) => name.trim()).map((h) => [h.name.trim(), h.value])),
  };
  const object = (field: "parameters" | "when") => {
    const { value, fault } = readJson(draft[field]);
    if (fault !== null) faults[field] = fault;
    else if (!isJsonObject(value)) faults[field] = "Must be an object: { … }.";
    return value;
  };
  const name = () => {
    const toolName = reader.required("name", "Enter a name.");
    if (toolName && !/^[\w-]+$/.test(toolName)) faults.name = "Letters, digits, _ and - only, such as get_weather.";
    return toolName;
  };
  const body = {
    name: name(),
    description: draft.description,
    parameters: hasParameters(type, draft) ? object("parameters") : undefined,
    approval: draft.approval === "when" ? { when: object("when") } : draft.approval,
    on_unknown: draft.on_unknown,
    max_output_bytes: reader.number("max_output_bytes"),
    enabled: draft.enabled,
    ...toolParts[type].read(draft, reader),
  };
  return { body: Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)), faults };
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Body with only the fields that differ from the tool. */
export function toolChanges(draft: ToolDraft, tool: Tool): Record<string, unknown> {
  const { body } = readToolDraft(tool.type, draft);
  const baseBody = readToolDraft(tool.type, toolDraftOf(tool)).body;
  const isChanged = (field: string): boolean => !same(body[field], baseBody[field]);
  const { together = [] } = toolParts[tool.type];
  // The server wants the OAuth client again with another URL. The form shows both.
  const isMeantAgain = (field: string): boolean =>
    field === "auth" && body.auth !== null && (isChanged("url") || isChanged("server_url"));
  const isSent = (field: string): boolean =>
    isChanged(field) || isMeantAgain(field) || (together.includes(field) && together.some(isChanged));
  return Object.fromEntries(Object.entries(body).filter(([field]) => isSent(field)));
}

/** Body of a new tool, without fields that have their default. */
export function toolCreation(type: ToolType, draft: ToolDraft): Record<string, unknown> {
  const { body } = readToolDraft(type, draft);
  const plain = { ...toolDraftOf(), source: "" };
  const defaults = readToolDraft(type, plain).body;
  const requiredFields: readonly string[] = ["name", ...(toolParts[type].always ?? [])];
  const nonDefaults = Object.entries(body).filter(
    ([field, value]) => requiredFields.includes(field) || !same(value, defaults[field]),
  );
  return { type, ...Object.fromEntries(nonDefaults) };
}

/** Assigns a validation error to the form's fields; `rest` are errors that no field shows. */
export const blameTool = (error: Error | null, draft: ToolDraft): { faults: FieldErrors<ToolDraft>; rest: string[] } =>
  serverFieldErrors(error, draft, (param) => (param.startsWith("approval.") ? "when" : param.split(/[.[]/)[0]));

/** Labels of a tool's API fields. */
const words: Record<string, string> = Object.assign(
  {
    parameters: "arguments",
    approval: "approval",
    on_unknown: "what happens if a crash interrupts a call",
    max_output_bytes: "max output size",
    enabled: "enabled",
    auth: "OAuth",
    timeout_ms: "timeout",
  } satisfies Partial<Record<keyof CommonDraft, string>>,
  ...toolTypeOrder.map((type) => toolParts[type].words),
);

/** Returns the labels of fields. */
export const toolWords = (fields: readonly string[]): string[] => fields.map((field) => words[field] ?? field);
