import { isExactNumber } from "../lib/exact-numbers.ts";
import type { AgentSnapshot, ToolSnapshot } from "./agent-snapshot.ts";
import { byteLength } from "./byte-length.ts";
import { limits } from "./limits.ts";
import { renderTemplate, tagsIn } from "./template.ts";
import type { Variable, VariableType, VariableValue, VariableValues } from "./variable.ts";

type Templated = Pick<AgentSnapshot, "instructions" | "variables" | "snippets">;

const valueIn = (values: VariableValues, name: string): VariableValue | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;

/** Returns the text of a value in a prompt. */
const textOfValue = (value: VariableValue): string => (typeof value === "string" ? value : JSON.stringify(value));

/**
 * Returns a function that renders the agent's templates with a run's values; null if it has no templates. `onFull` is
 * called if values and snippets together are too long: what does not fit is not replaced.
 */
export function createRenderer(
  { variables = [], snippets = [] }: Pick<Templated, "variables" | "snippets">,
  values: VariableValues = {},
  onFull: () => void = () => {},
): ((template: string) => string) | null {
  if (variables.length === 0 && snippets.length === 0) return null;
  let room = limits.rendered_length;
  const withinRoom = (text: string | undefined): string | undefined => {
    if (text === undefined || text.length <= room) {
      room -= text?.length ?? 0;
      return text;
    }
    onFull();
    return undefined;
  };
  const texts = new Map(
    variables.map((variable) => [variable.name, textOfValue(valueIn(values, variable.name) ?? variable.default ?? "")]),
  );
  const snippetTexts = new Map(
    snippets.map(({ name, text }) => [
      name,
      renderTemplate(text, (tag) => (tag.kind === "variable" ? withinRoom(texts.get(tag.name)) : undefined)),
    ]),
  );
  return (template) =>
    renderTemplate(template, ({ kind, name }) => withinRoom((kind === "variable" ? texts : snippetTexts).get(name)));
}

/** True for tools whose description is the project's own text: not an MCP server's, a client's or runnel's. */
export const hasTemplate = ({ type, of_request }: Pick<ToolSnapshot, "type" | "of_request">): boolean =>
  !["mcp", "memory", "tool_search", "skill", "handoff"].includes(type) && !of_request;

/**
 * Returns the beginning of the rendered instructions that is the same for all runs of the agent: up to the first tag of
 * a variable. A snippet with one ends it too.
 */
export function stablePrefix(agent: Templated): string {
  const { instructions, snippets = [] } = agent;
  const render = createRenderer(agent);
  if (!render || !agent.variables) return instructions;
  const hasVariable = new Set(snippets.filter(({ text }) => tagsIn(text).some(isVariable)).map(({ name }) => name));
  const first = tagsIn(instructions).find((tag) => isVariable(tag) || hasVariable.has(tag.name));
  return render(first ? instructions.slice(0, first.at) : instructions);
}

const isVariable = ({ kind }: { kind: string }): boolean => kind === "variable";

/** True if the texts of a run are not too long with these values. */
export function fitsPrompt(agent: Templated & Pick<AgentSnapshot, "tools">, values: VariableValues): boolean {
  let fits = true;
  const render = createRenderer(agent, values, () => {
    fits = false;
  });
  if (render) for (const text of [agent.instructions, ...templatesOf(agent.tools)]) render(text);
  return fits;
}

const templatesOf = (tools: readonly ToolSnapshot[]): string[] =>
  tools.filter(hasTemplate).map(({ description }) => description);

/** Returns why a value is not one of this variable; null if it is. */
export function valueIssue({ type, enum: choices }: Pick<Variable, "type" | "enum">, value: unknown): string | null {
  if (isExactNumber(value)) return tooManyDigits;
  if (!isOfType(type, value)) return `Must be ${typeWords[type]}.`;
  if (typeof value === "string" && choices && !choices.includes(value))
    return `Must be one of ${choices.map((choice) => JSON.stringify(choice)).join(", ")}.`;
  return lengthIssue(value);
}

/** Returns why a value is none of any variable; null if it may be one. */
export function anyValueIssue(value: unknown): string | null {
  if (isExactNumber(value)) return tooManyDigits;
  return isValue(value) ? lengthIssue(value) : "Must be a string, a number or a boolean.";
}

const tooManyDigits = "The number has more digits than fit: give it as a string.";

const typeWords: Record<VariableType, string> = {
  string: "a string",
  number: "a number",
  integer: "an integer",
  boolean: "a boolean",
};

const isValue = (value: unknown): value is VariableValue => ["string", "number", "boolean"].includes(typeof value);

const isOfType = (type: VariableType, value: unknown): value is VariableValue =>
  type === "integer" ? Number.isInteger(value) : typeof value === type;

const lengthIssue = (value: VariableValue): string | null =>
  byteLength(textOfValue(value)) > limits.variable_bytes ? `Must have at most ${limits.variable_bytes} bytes.` : null;

/** Returns the required variables that have neither a value nor a default. */
export const missingVariables = (variables: readonly Variable[], values: VariableValues): Variable[] =>
  variables.filter(
    ({ name, required, default: preset }) => required && preset === undefined && valueIn(values, name) === undefined,
  );
