import type { Guardrail, GuardrailAction, GuardrailPoint, GuardrailType } from "../core/agent-snapshot.ts";
import type { Fault } from "../core/errors.ts";
import { checkSchema } from "../lib/json-schema.ts";
import { piiKinds } from "./detectors.ts";
import { foldTerm } from "./fold.ts";
import { patternFault, patternLimits, patternSteps } from "./pattern/pattern.ts";
import { normalHost } from "./urls.ts";

export const guardrailLimits = {
  list: 32,
  pattern_length: patternLimits.length,
  /** Of all patterns of an agent together, counted repetitions written out: the work per character is bounded by it. */
  pattern_steps: 2000,
  terms: 1000,
  term_length: 200,
  /** Of all lists of an agent together: each run makes a tree of them. */
  term_characters: 100_000,
  hosts: 1000,
  tools: 1000,
  prompt_length: 8192,
  max_length: 1_048_576,
} as const;

/** A guardrail as a client writes it; a type without settings needs no `config`. */
export type GuardrailInput = Omit<Guardrail, "config"> & { config?: Record<string, unknown> };

type Complain = (path: string, message: string, code?: string) => void;

/** All that is wrong with an agent's guardrails, each fault by its path, such as `guardrails[2].config.pattern`. */
export function checkGuardrails(list: readonly GuardrailInput[]): Fault[] {
  const faults: Fault[] = [];
  const complain: Complain = (param, message, code = "invalid_value") =>
    void faults.push({ param, code, message: `${param}: ${message}` });
  if (list.length > guardrailLimits.list) complain("guardrails", `Expected at most ${guardrailLimits.list}.`);
  let [steps, characters] = [0, 0];
  for (const [i, guardrail] of list.slice(0, guardrailLimits.list).entries()) {
    const path = `guardrails[${i}]`;
    checkPlace(guardrail, path, complain);
    checkConfig(guardrail, `${path}.config`, complain);
    if (guardrail.type === "regex") steps += usableSteps(guardrail.config?.pattern);
    if (guardrail.type === "blocked_terms") characters += lengthOf(guardrail.config?.terms);
  }
  if (steps > guardrailLimits.pattern_steps)
    complain("guardrails", `All patterns together are larger than ${guardrailLimits.pattern_steps} steps.`);
  if (characters > guardrailLimits.term_characters)
    complain("guardrails", `All terms together are longer than ${guardrailLimits.term_characters} characters.`);
  return faults;
}

const lengthOf = (terms: unknown): number =>
  Array.isArray(terms) ? terms.reduce<number>((sum, term) => sum + (typeof term === "string" ? term.length : 0), 0) : 0;

function usableSteps(pattern: unknown): number {
  const steps = typeof pattern === "string" ? (patternSteps(pattern) ?? 0) : 0;
  return steps > patternLimits.steps ? 0 : steps; // Such a pattern is named for itself.
}

const withPlaces: readonly GuardrailType[] = [
  "max_length",
  "regex",
  "blocked_terms",
  "pii",
  "secrets",
  "url_allowlist",
];

/** Whether a type can do something at a point. */
export function fitsPlace(type: GuardrailType, on: GuardrailPoint, action: GuardrailAction): boolean {
  if (type === "tool_allowlist" && on !== "tool_call") return false;
  if (action === "require_approval") return on === "tool_call";
  if (action !== "redact") return true;
  // Arguments that were cut in the middle are none.
  return withPlaces.includes(type) && !(type === "max_length" && on === "tool_call");
}

function checkPlace({ type, on, action }: GuardrailInput, path: string, complain: Complain): void {
  const wrong = on.filter((point) => !fitsPlace(type, point, action));
  if (wrong.length === 0) return;
  if (type === "tool_allowlist" && on.some((point) => point !== "tool_call"))
    complain(`${path}.on`, 'Expected ["tool_call"] for tool_allowlist.');
  else if (action === "require_approval") complain(`${path}.on`, 'Expected ["tool_call"] for require_approval.');
  else if (!withPlaces.includes(type)) complain(`${path}.action`, `${type} finds no places that could be redacted.`);
  else complain(`${path}.on`, "Arguments of a tool cannot be cut: tool_call does not go with max_length and redact.");
}

type Rule = (value: unknown, path: string, complain: Complain) => void;

const rules: Record<GuardrailType, { required: Record<string, Rule>; optional?: Record<string, Rule> }> = {
  max_length: { required: { max_length: checkLength } },
  regex: { required: { pattern: checkPattern } },
  blocked_terms: { required: { terms: checkTerms } },
  pii: { required: {}, optional: { kinds: checkKinds } },
  secrets: { required: {} },
  json_schema: { required: { schema: checkOwnSchema } },
  url_allowlist: { required: { hosts: checkHosts } },
  tool_allowlist: { required: { tools: checkTools } },
  llm_judge: { required: { prompt: checkPrompt }, optional: { model: checkModelName } },
};

function checkConfig({ type, config = {} }: GuardrailInput, path: string, complain: Complain): void {
  const { required, optional = {} } = rules[type];
  for (const name of Object.keys(required))
    if (!Object.hasOwn(config, name)) complain(`${path}.${name}`, "This parameter is required.", "required");
  for (const [name, value] of Object.entries(config)) {
    const known = { ...required, ...optional };
    if (Object.hasOwn(known, name)) known[name]!(value, `${path}.${name}`, complain);
    else complain(`${path}.${name}`, "There is no such parameter.", "unknown_parameter");
  }
}

function checkLength(value: unknown, path: string, complain: Complain): void {
  const { max_length } = guardrailLimits;
  if (!Number.isInteger(value) || (value as number) < 1 || (value as number) > max_length)
    complain(path, `Expected an integer from 1 to ${max_length}.`);
}

function checkPattern(value: unknown, path: string, complain: Complain): void {
  const fault = typeof value === "string" && value !== "" ? patternFault(value) : "it is no text";
  if (fault) complain(path, `Expected a pattern of RE2's syntax: ${fault}.`);
}

function checkTerms(value: unknown, path: string, complain: Complain): void {
  const { terms, term_length } = guardrailLimits;
  checkList(value, path, complain, terms, (term, at) => {
    if (term.length > term_length) complain(at, `Expected at most ${term_length} characters.`);
    else if (foldTerm(term).length === 0) complain(at, "Expected a visible character.");
  });
}

function checkKinds(value: unknown, path: string, complain: Complain): void {
  checkList(value, path, complain, piiKinds.length, (kind, at) => {
    if (!piiKinds.includes(kind)) complain(at, `Expected one of ${piiKinds.join(", ")}.`);
  });
}

function checkOwnSchema(value: unknown, path: string, complain: Complain): void {
  for (const message of checkSchema(value)) complain(path, `${message}.`);
}

function checkHosts(value: unknown, path: string, complain: Complain): void {
  checkList(value, path, complain, guardrailLimits.hosts, (host, at) => {
    const name = host.startsWith("*.") ? host.slice(2) : host;
    if (!/^[^\s*/\\?#@%]{1,253}$/.test(name) || /:\d*$/.test(name) || normalHost(name) === null)
      complain(at, 'Expected the name of a host without a port, such as "example.com" or "*.example.com".');
  });
}

function checkTools(value: unknown, path: string, complain: Complain): void {
  checkList(
    value,
    path,
    complain,
    guardrailLimits.tools,
    (name, at) => {
      if (!/^[A-Za-z0-9_-]{1,129}$/.test(name)) complain(at, "Expected the name of a tool.");
    },
    0,
  );
}

function checkPrompt(value: unknown, path: string, complain: Complain): void {
  const { prompt_length } = guardrailLimits;
  if (typeof value !== "string" || value.trim() === "" || value.length > prompt_length)
    complain(path, `Expected a text of at most ${prompt_length} characters.`);
}

function checkModelName(value: unknown, path: string, complain: Complain): void {
  if (typeof value !== "string" || value === "" || value.length > 300) complain(path, "Expected <provider>/<model>.");
}

function checkList(
  value: unknown,
  path: string,
  complain: Complain,
  max: number,
  check: (item: string, path: string) => void,
  min = 1,
): void {
  if (!Array.isArray(value) || value.length < min || value.length > max) {
    complain(path, `Expected a list of ${min} to ${max} texts.`);
    return;
  }
  for (const [i, item] of value.entries()) {
    if (typeof item === "string") check(item, `${path}[${i}]`);
    else complain(`${path}[${i}]`, "Expected a text.");
  }
}
