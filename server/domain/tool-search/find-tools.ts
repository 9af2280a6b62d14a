import type { AgentSnapshot, ToolSnapshot } from "../agent-snapshot.ts";
import type { ToolError } from "../run-event.ts";
import type { ToolCall } from "../run-state.ts";
import { distance, rankTools } from "./rank.ts";
import { searchToolOf } from "./search-tool.ts";
import { stemsOf } from "./words.ts";

/** Result of a search. The tools in it are loaded: the model has their definitions from its next call on. */
interface FoundTools {
  tools: { name: string; description: string }[];
  /** Names of a `select:` that no tool has. */
  not_found?: string[];
  /** Advice for the next step. */
  note: string;
}

const foundMost = 5;
const selectedMost = 20;
const nearMost = 3;
const lineMost = 160;
/** Number of turns with nothing but searches after which the result asks the model to stop. */
const patience = 3;

interface Standing {
  /** Names of the tools that are loaded already. */
  loaded: readonly string[];
  /** Number of turns in a row before this one that only searched. */
  searches: number;
}

/** Searches all tools of the agent. For a loaded tool, the result asks the model to call it. */
export function findTools(query: string, agent: AgentSnapshot, { loaded, searches }: Standing): FoundTools {
  const tools = agent.tools.filter(({ type }) => type !== "tool_search");
  const names = namesIn(query, tools);
  const resolved = names?.map((name) => ({ name, found: toolsNamed(name, tools) }));
  const missing = resolved?.flatMap(({ name, found }) => (found.length === 1 ? [] : [name])) ?? [];
  const found = resolved
    ? [...new Set(resolved.flatMap((each) => each.found))].slice(0, selectedMost)
    : [...new Set([...tools.filter(isSame(query)), ...rankTools(query, tools, foundMost)])].slice(0, foundMost);
  const isLoaded = ({ name, type, of_request }: ToolSnapshot) =>
    loaded.includes(name) || type === "memory" || of_request;
  const before = found.filter(isLoaded).map(({ name }) => name);
  const notes = [
    found.length > before.length && "The tools found are loaded: call them directly.",
    before.length > 0 && `Loaded already: ${before.join(", ")}. Call them instead of searching again.`,
    found.length === 0 &&
      "No tool fits. Try other words for what it should do, once. If nothing fits again, go on without such a tool.",
    searches >= patience &&
      `You have searched ${searches + 1} times in a row. Call a tool that is loaded, or answer without one.`,
  ];
  return {
    tools: found.map(({ name, description }) => ({ name, description: oneLine(description) })),
    ...(missing.length > 0 && { not_found: missing }),
    note: notes.filter((note) => note !== false).join(" "),
  };
}

/** Number of turns in a row before this call's that made no call but searches. */
export function searchesBefore({ turn_index }: Pick<ToolCall, "turn_index">, calls: readonly ToolCall[]): number {
  let count = 0;
  for (let turn = turn_index - 1; turn >= 0; turn--) {
    const own = calls.filter((call) => call.turn_index === turn);
    if (own.length === 0 || own.some(({ type }) => type !== "tool_search")) break;
    count++;
  }
  return count;
}

/**
 * Adds to the error of a call what helps a model that has not read the tool's definition. The definitions of a tool that
 * was called and of the tools in quotes are loaded.
 */
export function withLoadingHint(
  error: ToolError,
  name: string,
  loaded: readonly string[],
  agent: AgentSnapshot,
): ToolError {
  const search = searchToolOf(agent);
  if (!search) return error;
  if (error.code === "tool_not_found")
    return { ...error, message: `${error.message} ${whereElse(name, agent, search.name)}` };
  const isNew = agent.tools.some((tool) => tool.name === name) && !loaded.includes(name);
  if (error.code !== "invalid_arguments" || !isNew) return error;
  return {
    ...error,
    message: `${error.message} The definition of ${name} is loaded now: call it again with its parameters.`,
  };
}

function whereElse(name: string, agent: AgentSnapshot, searchName: string): string {
  const near = nearTools(
    name,
    agent.tools.filter(({ type }) => type !== "tool_search"),
  );
  if (near.length === 0) return `Find one with ${searchName}.`;
  return `Near it, and loaded now: ${near.map((tool) => `"${tool.name}"`).join(", ")}.`;
}

/** Returns the exact names that a query asks for; null if it is one of words. */
function namesIn(query: string, tools: readonly ToolSnapshot[]): string[] | null {
  const [, list] = /^\s*select\s*:([\s\S]*)$/i.exec(query) ?? [];
  const names = (list ?? query).split(/[\s,;"'`]+/).filter((name) => name !== "");
  const areExact = names.length > 0 && names.every((name) => tools.some((tool) => tool.name === name));
  return list !== undefined || areExact ? names.slice(0, selectedMost) : null;
}

/** Returns the tool of this name, or those of similar names. */
function toolsNamed(name: string, tools: readonly ToolSnapshot[]): ToolSnapshot[] {
  const exact = tools.find((tool) => tool.name === name);
  return exact ? [exact] : nearTools(name, tools);
}

const lettersOf = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

const isSame = (query: string) => {
  const letters = lettersOf(query);
  return ({ name }: ToolSnapshot): boolean => lettersOf(name) === letters;
};

/**
 * Returns the tools that a wrong name may mean: written otherwise or with another prefix, with a slip of the pen, without
 * the server's name, or with mostly the same words.
 */
function nearTools(name: string, tools: readonly ToolSnapshot[]): ToolSnapshot[] {
  const bare = name.split(/__|[.:/]/).findLast((part) => part !== "") ?? name;
  const [whole, last] = [lettersOf(name), lettersOf(bare)];
  const stems = new Set(stemsOf(bare));
  const ways: ((letters: string, tool: ToolSnapshot) => boolean)[] = [
    (letters) => letters === whole || letters === last,
    (letters) => letters.length > 5 && distance(letters, whole, 2) <= 2,
    (letters) => last.length > 3 && letters.endsWith(last),
    (letters) => letters.length > 3 && whole.endsWith(letters),
    (_, tool) => share(stems, new Set(stemsOf(tool.name))) >= 0.5,
  ];
  for (const fits of ways) {
    const near = tools.filter((tool) => fits(lettersOf(tool.name), tool));
    if (near.length > 0) return near.slice(0, nearMost);
  }
  return [];
}

/** Share of the words that two names have in common. */
function share(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const common = [...a].filter((word) => b.has(word)).length;
  return common / Math.max(1, a.size, b.size);
}

/** Returns the first sentence of a description, on one line. */
function oneLine(description: string): string {
  const line = description.trim().replace(/\s+/g, " ");
  const [sentence = line] = /^.*?[.!?。](?= \p{Lu}|$)/u.exec(line) ?? [];
  return sentence.length <= lineMost
    ? sentence
    : `${sentence
        .slice(0, lineMost - 1)
        .toWellFormed()
        .trimEnd()}…`;
}
