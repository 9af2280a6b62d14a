import {
  type GuardrailAction,
  type GuardrailPoint,
  type GuardrailType,
  guardrailActions,
  guardrailPoints,
  guardrailTypes,
} from "../../../../server/domain/agent-snapshot.ts";
import { isJsonObject } from "../../lib/json-text.ts";
import { maxSchemaRows } from "../../lib/max-schema-rows.ts";

/** A setting of a guardrail, and the kind of field that edits it. */
interface Setting {
  name: string;
  label: string;
  kind: "number" | "text" | "prose" | "lines" | "json";
  hint?: string;
  /** The rule is valid without this setting. */
  optional?: true;
}

interface Kind {
  label: string;
  settings: readonly Setting[];
  /** The initial values of a new rule of this type. */
  example: Omit<Rule, "type">;
}

/** A rule as the API has it. The server validates its settings. */
export interface Rule {
  type: GuardrailType;
  on: GuardrailPoint[];
  action: GuardrailAction;
  config?: Record<string, unknown>;
}

/** The form's description of each type of rule. */
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

/** Returns the rules in this value, or null if fields cannot show all of them. */
export function parseRules(value: unknown): Rule[] | null {
  return Array.isArray(value) && value.length <= maxSchemaRows && value.every(isRule) ? value : null;
}

function isRule(value: unknown): value is Rule {
  if (!isJsonObject(value)) return false;
  const { type, on, action, config = {}, ...more } = value;
  const has = (list: readonly string[], each: unknown) => list.includes(each as string);
  if (!has(guardrailTypes, type) || !has(guardrailActions, action) || Object.keys(more).length > 0) return false;
  if (!Array.isArray(on) || !on.every((each) => has(guardrailPoints, each)) || !isJsonObject(config)) return false;
  const { settings } = kinds[type as GuardrailType];
  return Object.entries(config).every(([name, settingValue]) => {
    const setting = settings.find((each) => each.name === name);
    return setting !== undefined && canShow(setting, settingValue);
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

/** Returns a rule with one setting changed. An optional setting that is empty is removed. */
export function updateSetting(rule: Rule, { name, optional }: Setting, value: unknown): Rule {
  const { [name]: _, ...others } = rule.config ?? {};
  const isEmpty = value === "" || (Array.isArray(value) && value.length === 0);
  return { ...rule, config: optional && isEmpty ? others : { ...rule.config, [name]: value } };
}

/** Returns a rule with one point added or removed. Points keep the order of `guardrailPoints`. */
export const togglePoint = (rule: Rule, point: GuardrailPoint, isOn: boolean): Rule => ({
  ...rule,
  on: guardrailPoints.filter((each) => (each === point ? isOn : rule.on.includes(each))),
});
