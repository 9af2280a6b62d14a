import { byteLength } from "./byte-length.ts";
import { limits } from "./limits.ts";
import { tagsIn, tagsMax } from "./template.ts";
import type { PinnedSnippet, Variable } from "./variable.ts";
import { valueIssue } from "./variables.ts";

/** A fault, and the field that has it. */
interface Issue {
  param: string;
  message: string;
}

interface Templates {
  instructions: string;
  variables: readonly Variable[];
  snippets: readonly PinnedSnippet[];
}

/** Keys that no request may have. */
const forbiddenNames = ["constructor", "prototype"];

/** Returns what is wrong with the variables that an agent declares. */
export function variableIssues(variables: readonly Variable[]): Issue[] {
  return variables.flatMap((variable, index) => {
    const { name, type, default: preset, enum: choices } = variable;
    const param = `variables[${index}]`;
    const issues: Issue[] = [];
    if (forbiddenNames.includes(name))
      issues.push({ param: `${param}.name`, message: "A request cannot have this name: choose another one." });
    if (variables.findIndex((other) => other.name === name) < index)
      issues.push({ param: `${param}.name`, message: "Another variable has this name." });
    if (choices && type !== "string")
      issues.push({ param: `${param}.enum`, message: "Only a variable of the type string has this." });
    const wrong = preset === undefined ? null : valueIssue(variable, preset);
    if (wrong !== null) issues.push({ param: `${param}.default`, message: wrong });
    return issues;
  });
}

/** Returns what is wrong with the tags of an agent's instructions and of its snippets. */
export function templateIssues({ instructions, variables, snippets }: Templates): Issue[] {
  if (variables.length === 0 && snippets.length === 0) return [];
  return [
    ...instructionIssues({ instructions, variables, snippets }),
    ...snippets.flatMap(({ text }, index) => tagIssues(text, variables, `snippets[${index}]`)),
    ...lengthIssues(instructions, snippets),
  ];
}

/** Returns what is wrong with the tags of the instructions alone. */
export function instructionIssues({ instructions, variables, snippets }: Templates): Issue[] {
  if (variables.length === 0 && snippets.length === 0) return [];
  const known = new Set(snippets.map(({ name }) => name));
  const unknown = tagsIn(instructions).find(({ kind, name }) => kind === "snippet" && !known.has(name));
  const message = `{{> ${unknown?.name}}} is no snippet of the agent: add it to snippets, or write \\{{ for braces.`;
  return [...(unknown ? [{ param: "instructions", message }] : []), ...tagIssues(instructions, variables)];
}

/** Returns the snippets of the agent that its instructions do not place. */
export function unplacedSnippets({ instructions, snippets }: Pick<Templates, "instructions" | "snippets">): Issue[] {
  const placed = new Set(tagsIn(instructions).flatMap(({ kind, name }) => (kind === "snippet" ? [name] : [])));
  return snippets.flatMap(({ name }, index) => {
    const message = `The instructions do not have this snippet: write {{> ${name}}} where it belongs.`;
    return placed.has(name) ? [] : [{ param: `snippets[${index}]`, message }];
  });
}

/** Returns what is wrong with the variables in a text. Without variables, `{{name}}` is text. */
export function tagIssues(text: string, variables: readonly Variable[], param = "instructions"): Issue[] {
  const tags = tagsIn(text);
  const issues: Issue[] = [];
  if (tags.length > tagsMax) issues.push({ param, message: `Must have at most ${tagsMax} places like {{name}}.` });
  const names = new Set(variables.map(({ name }) => name));
  const unknown = tags.find(({ kind, name }) => kind === "variable" && !names.has(name));
  if (variables.length > 0 && unknown)
    issues.push({
      param,
      message: `{{${unknown.name}}} is no variable of the agent: declare it, or write \\{{ for braces.`,
    });
  return issues;
}

function lengthIssues(instructions: string, snippets: readonly PinnedSnippet[]): Issue[] {
  const bytes = new Map(snippets.map(({ name, text }) => [name, byteLength(text)]));
  const placed = tagsIn(instructions).reduce(
    (sum, { name, kind }) => sum + (kind === "snippet" ? (bytes.get(name) ?? 0) : 0),
    0,
  );
  const message = `Must have at most ${limits.instructions_bytes} bytes together with the snippets.`;
  return byteLength(instructions) + placed > limits.instructions_bytes ? [{ param: "instructions", message }] : [];
}
