import {
  type GuardrailAction,
  type GuardrailPoint,
  type GuardrailType,
  guardrailActions,
  guardrailPoints,
  guardrailTypes,
} from "../../../../server/core/agent-snapshot.ts";
import { isJsonObject } from "../../lib/json-text.ts";
import { mostRows } from "../../lib/most-rows.ts";

/** How a setting of a guardrail is written. */
interface Setting {
  name: string;
  label: string;
  kind: "number" | "text" | "prose" | "lines" | "json";
  hint?: string;
  /** Without it the rule still holds. */
  optional?: true;
}

interface Kind {
  label: string;
  settings: readonly Setting[];
  /** A rule of it to begin with. */
  example: Omit<Rule, "type">;
}

/** A rule as JSON has it: settings are judged by the server. */
export interface Rule {
  type: GuardrailType;
  on: GuardrailPoint[];
  action: GuardrailAction;
  config?: Record<string, unknown>;
}

/** Each type of rule, as a form shows it. */
export const kinds: Record<GuardrailType, Kind> = {
  pii: {
    label: "Personal data",
    settings: [
      {
        name: "kinds",
        label: "Kinds",
        kind: "lines",
        hint: "One per line, such as email. Empty: all kinds.",
        optional: true,
      },
    ],
    example: { on: ["input"], action: "redact", config: { kinds: ["email"] } },
  },
  secrets: { label: "Keys and tokens", settings: [], example: { on: ["output"], action: "block" } },
  regex: {
    label: "Pattern",
    settings: [{ name: "pattern", label: "Pattern", kind: "text", hint: "A regular expression in RE2 syntax." }],
    example: { on: ["output"], action: "block", config: { pattern: "internal-\\d+" } },
  },
  blocked_terms: {
    label: "Blocked terms",
    settings: [{ name: "terms", label: "Terms", kind: "lines", hint: "One per line." }],
    example: { on: ["output"], action: "flag", config: { terms: ["guarantee"] } },
  },
  url_allowlist: {
    label: "Allowed hosts",
    settings: [{ name: "hosts", label: "Hosts", kind: "lines", hint: "One per line, such as *.example.com." }],
    example: { on: ["output"], action: "block", config: { hosts: ["example.com"] } },
  },
  max_length: {
    label: "Length",
    settings: [{ name: "max_length", label: "Max length, characters", kind: "number" }],
    example: { on: ["input"], action: "block", config: { max_length: 20_000 } },
  },
  json_schema: {
    label: "JSON Schema",
    settings: [{ name: "schema", label: "Schema", kind: "json" }],
    example: { on: ["output"], action: "block", config: { schema: { type: "object", properties: {} } } },
  },
  tool_allowlist: {
    label: "Allowed tools",
    settings: [{ name: "tools", label: "Tools", kind: "lines", hint: "One name per line." }],
    example: { on: ["tool_call"], action: "require_approval", config: { tools: ["search"] } },
  },
  llm_judge: {
    label: "Judge",
    settings: [
      { name: "prompt", label: "Rule", kind: "prose", hint: "What breaks the rule, in a sentence." },
      { name: "model", label: "Model", kind: "text", hint: "Empty: the agent's model.", optional: true },
    ],
    example: { on: ["output"], action: "block", config: { prompt: "It gives legal advice." } },
  },
};

/** The rules that are written, or null where fields cannot show all of them. */
export function rulesOf(value: unknown): Rule[] | null {
  return Array.isArray(value) && value.length <= mostRows && value.every(isRule) ? value : null;
}

function isRule(value: unknown): value is Rule {
  if (!isJsonObject(value)) return false;
  const { type, on, action, config = {}, ...more } = value;
  const has = (list: readonly string[], each: unknown) => list.includes(each as string);
  if (!has(guardrailTypes, type) || !has(guardrailActions, action) || Object.keys(more).length > 0) return false;
  if (!Array.isArray(on) || !on.every((each) => has(guardrailPoints, each)) || !isJsonObject(config)) return false;
  const { settings } = kinds[type as GuardrailType];
  return Object.entries(config).every(([name, given]) => {
    const setting = settings.find((each) => each.name === name);
    return setting !== undefined && canShow(setting, given);
  });
}

function canShow({ kind }: Setting, value: unknown): boolean {
  if (kind === "number") return typeof value === "number" || typeof value === "string";
  if (kind === "json") return isJsonObject(value) || typeof value === "string";
  if (kind === "lines") return Array.isArray(value) && value.every(isLine);
  return typeof value === "string" && (kind === "prose" || !/[\r\n]/.test(value));
}

const isLine = (text: unknown): boolean =>
  typeof text === "string" && text !== "" && text.trim() === text && !/[\r\n]/.test(text);

/** A rule with a setting changed; of one that may be left out, nothing is nothing. */
export function withSetting(rule: Rule, { name, optional }: Setting, value: unknown): Rule {
  const { [name]: _, ...others } = rule.config ?? {};
  const isEmpty = value === "" || (Array.isArray(value) && value.length === 0);
  return { ...rule, config: optional && isEmpty ? others : { ...rule.config, [name]: value } };
}

/** A rule with a point taken or left, in the order of all points. */
export const withPoint = (rule: Rule, point: GuardrailPoint, isOn: boolean): Rule => ({
  ...rule,
  on: guardrailPoints.filter((each) => (each === point ? isOn : rule.on.includes(each))),
});
