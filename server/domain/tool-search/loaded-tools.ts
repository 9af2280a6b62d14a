import { isObject, parsedJson } from "../../lib/json.ts";
import type { AgentSnapshot, ToolSnapshot } from "../agent-snapshot.ts";
import type { ModelTool, PromptMessage } from "../model-call.ts";
import { isDeferrable, searchToolOf } from "./search-tool.ts";

/**
 * Returns the names of the loaded tools in the order in which they were loaded: the one that `tool_choice` names, those
 * that a search or an error has named, and those that were called. Null for an agent whose tools are not deferred.
 * Depends on the whole conversation, its left-out messages too, so that no compaction unloads a tool.
 */
export function loadedTools(conversation: readonly PromptMessage[], agent: AgentSnapshot): string[] | null {
  const search = searchToolOf(agent);
  if (!search) return null;
  const deferred = new Set(agent.tools.filter(isDeferrable).map(({ name }) => name));
  const loaded = new Set<string>();
  const load = (name: unknown): void => {
    if (typeof name === "string" && deferred.has(name)) loaded.add(name);
  };
  const { tool_choice } = agent.settings;
  if (typeof tool_choice === "object") load(tool_choice.name);
  for (const message of conversation) {
    if (message.role === "assistant")
      for (const part of message.parts) load(part.type === "tool_call" ? part.name : null);
    if (message.role !== "tool") continue;
    for (const name of message.is_error ? namesInError(message.output) : namesFound(message, search.name)) load(name);
  }
  return [...loaded];
}

/**
 * Returns the tools for the model: those that are always there in their order, then the loaded ones in theirs.
 * `descriptionOf` returns a tool's description as this run has it.
 */
export function modelTools(
  conversation: readonly PromptMessage[],
  agent: AgentSnapshot,
  descriptionOf: (tool: ToolSnapshot) => string = ({ description }) => description,
): ModelTool[] {
  const definition = (tool: ToolSnapshot): ModelTool => ({
    name: tool.name,
    description: descriptionOf(tool),
    parameters: tool.parameters,
  });
  const loaded = loadedTools(conversation, agent);
  if (!loaded) return agent.tools.map(definition);
  const byName = new Map(agent.tools.map((tool) => [tool.name, tool]));
  const always = agent.tools.filter((tool) => !isDeferrable(tool));
  const isSearch = ({ type }: ToolSnapshot): boolean => type === "tool_search";
  // The search tool is first: the tools of a request may be others in the thread's next run.
  const first = [...always.filter(isSearch), ...always.filter((tool) => !isSearch(tool))];
  return [...first, ...loaded.flatMap((name) => byName.get(name) ?? [])].map(definition);
}

type ToolMessage = Extract<PromptMessage, { role: "tool" }>;

/** Returns the names in the result of a search. */
function namesFound({ tool, output }: ToolMessage, searchName: string): unknown[] {
  if (tool !== searchName) return [];
  const result = parsedJson(output);
  if (!isObject(result) || !Array.isArray(result.tools)) return [];
  return result.tools.map((each) => (isObject(each) ? each.name : null));
}

const isMissing = /^Error \(tool_not_found\): /;

/** Returns the names that the error of an unknown tool has in quotes. */
const namesInError = (output: string): string[] =>
  isMissing.test(output) ? [...output.matchAll(/"([^"]{1,128})"/g)].map(([, name]) => name ?? "") : [];
