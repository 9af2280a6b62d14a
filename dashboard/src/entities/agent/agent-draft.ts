import { ApiError } from "../../lib/api.ts";
import { formatCount } from "../../lib/format.ts";
import { isJsonObject, readJson } from "../../lib/json-text.ts";
import {
  type DefinitionField,
  type Draft,
  type DraftReader,
  type Faults,
  formFieldNames,
  formFields,
  namedFallbacks,
  type Range,
} from "./agent-fields.ts";
import { type Definition, isSame } from "./definition.ts";

/** Form draft of a definition; without one, of a new agent. */
export const draftOf = (definition?: Definition): Draft =>
  Object.assign({}, ...formFieldNames.map((field) => formFields[field].typed(definition)));

/** Converts a draft to an API body, with errors for the fields that cannot be parsed. The server validates the rest. */
export function readDraft(draft: Draft): { body: Record<DefinitionField, unknown>; faults: Faults } {
  const faults: Faults = {};
  const reader: DraftReader = {
    required(field, missing) {
      if (draft[field].trim() === "") faults[field] = missing;
      return draft[field];
    },
    number(field, range) {
      const written = String(draft[field]).trim();
      if (written === "") return undefined;
      const value = Number(written.replaceAll(",", ""));
      if (!Number.isFinite(value)) faults[field] = `${written} is not a number.`;
      else if (range && !isWithin(value, range))
        faults[field] = `A ${range.isWhole ? "whole " : ""}number from ${range.least} to ${formatCount(range.most)}.`;
      return value;
    },
    json(field, kind) {
      if (draft[field].trim() === "") return undefined;
      const { value, fault } = readJson(draft[field]);
      if (fault !== null) faults[field] = fault;
      else if (kind === "list" && !Array.isArray(value)) faults[field] = "Must be a list: [ … ].";
      else if (kind === "object" && !isJsonObject(value)) faults[field] = "Must be an object: { … }.";
      return value;
    },
  };
  const entries = formFieldNames.map((field) => [field, formFields[field].read(draft, reader)]);
  return { body: Object.fromEntries(entries), faults };
}

const isWithin = (value: number, { least, most, isWhole = false }: Range): boolean =>
  value >= least && value <= most && (!isWhole || Number.isInteger(value));

/** Value of a definition's field in API form: tools as ids. */
const wireValue = (definition: Definition, field: DefinitionField): unknown => {
  if (field === "tools") return definition.tools.map(({ id }) => id);
  return field === "failover_on" ? (definition.failover_on ?? null) : definition[field];
};

/** Fields that differ between two definitions. */
export const changedFields = (before: Definition, after: Definition): DefinitionField[] =>
  formFieldNames.filter((field) => !isSame(wireValue(before, field), wireValue(after, field)));

/** Lower-case labels of fields for use in a sentence. The first of several models is no change of its own. */
export const fieldWords = (fields: readonly DefinitionField[]): string[] =>
  fields
    .filter((field) => field !== "model" || !fields.includes("models"))
    .map((field) => formFields[field].word.toLowerCase());

const modelFields: DefinitionField[] = ["model", "models"];

/** Body with only the fields that differ from `base`. */
export function changesOf(draft: Draft, base: Definition): Partial<Record<DefinitionField, unknown>> {
  const { body } = readDraft(draft);
  const baseBody = readDraft(draftOf(base)).body;
  const differs = (field: DefinitionField) => !isSame(body[field], baseBody[field]);
  // The first of several models is both, and a single one replaces several.
  const isModelChanged = modelFields.some(differs);
  const changed = formFieldNames.filter((field) => differs(field) || (isModelChanged && modelFields.includes(field)));
  return Object.fromEntries(changed.map((field) => [field, body[field]]).filter(([, value]) => value !== undefined));
}

/** Body of a new agent, without fields that have their default. */
export function creationOf(draft: Draft): Record<string, unknown> {
  const { body } = readDraft(draft);
  const plain = readDraft({ ...draftOf(), name: "x", instructions: "x", model: "x" }).body;
  const bodyFields = formFieldNames.filter(
    (field) => ["name", "instructions", "model"].includes(field) || !isSame(body[field], plain[field]),
  );
  return Object.fromEntries(bodyFields.map((field) => [field, body[field]]));
}

/** Body that restores an agent to a version, without deleted tools. */
export function restorationOf(version: Definition, isThere: (toolId: string) => boolean): Record<string, unknown> {
  const all = formFieldNames.map((field) => [field, wireValue(version, field)] as const);
  return { ...Object.fromEntries(all), tools: version.tools.map(({ id }) => id).filter(isThere) };
}

/** Assigns a validation error to the form's fields; `rest` are errors that no field shows. */
export function assignAgentErrors(error: Error | null, draft: Draft): { faults: Faults; rest: string[] } {
  const byField: Faults = {};
  const rest: string[] = [];
  for (const { param, message } of error instanceof ApiError ? error.fieldErrors : []) {
    const [head = "", next = ""] = (param ?? "").replaceAll(/\[\d+\]/g, "").split(".");
    // The first of several models is the field `model`.
    const name = param === "models[0]" ? "model" : head === "models" ? "fallbacks" : head;
    const field = (name === "budget" || name === "model_settings" ? next : name) as keyof Draft;
    if (!(field in draft)) rest.push(message);
    else byField[field] = [byField[field], withPlace(param ?? "", message)].filter(Boolean).join(" ");
  }
  return { faults: byField, rest };
}

/** Returns the fault of each row of fallback models; one that names no row is the first row's. */
export function fallbackFaults(draft: Pick<Draft, "model" | "fallbacks">, fault: string): (string | undefined)[] {
  const rows = namedFallbacks(draft);
  const faults: (string | undefined)[] = draft.fallbacks.map(() => undefined);
  for (const each of fault.split(/(?=models\[\d+\]: )/)) {
    const [, place = "1", message = ""] = /^(?:models\[(\d+)\]: )?(.*)$/s.exec(each.trim()) ?? [];
    const row = rows[Number(place) - 1] ?? 0;
    if (message) faults[row] = [faults[row], message].filter(Boolean).join(" ");
  }
  return faults;
}

/** Adds the path within a list or an object to the message. */
const withPlace = (param: string, message: string): string =>
  param !== "models[0]" && /[.[]/.test(param) && !message.startsWith(param) ? `${param}: ${message}` : message;
