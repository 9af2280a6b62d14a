import type { AgentSnapshot, ToolSnapshot } from "../../domain/agent-snapshot.ts";
import type { Fault } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import {
  instructionIssues,
  tagIssues,
  templateIssues,
  unplacedSnippets,
  variableIssues,
} from "../../domain/template-issues.ts";
import type { PinnedSnippet } from "../../domain/variable.ts";
import { hasTemplate } from "../../domain/variables.ts";
import { fault, throwIfInvalid } from "../../http/errors.ts";
import type { Definition } from "./schema.ts";

/** Returns the snippet that a reference names, with its text; null if there is none. */
export type PinnedSnippetOf = (scope: Scope, reference: string) => PinnedSnippet | null;

interface CheckedAgent extends Pick<Definition, "instructions" | "variables" | "snippets"> {
  /** Tools whose descriptions may have variables, by id; null: they are not checked. */
  tools: readonly ToolSnapshot[] | null;
  /** Ids of the agent's tools in their order. */
  toolIds: readonly string[];
}

/** Throws if the instructions, snippets or tools of an agent have places for which it has no variable or snippet. */
export function checkTemplates(scope: Scope, agent: CheckedAgent, pinnedOf: PinnedSnippetOf): void {
  const { instructions, variables } = agent;
  const pinned = agent.snippets.map((reference) => pinnedOf(scope, reference));
  throwIfInvalid([...snippetFaults(agent.snippets, pinned), ...variableIssues(variables).map(toFault)]);
  const snippets = pinned.filter((each) => each !== null);
  throwIfInvalid([
    ...templateIssues({ instructions, variables, snippets }).map(toFault),
    ...unplacedSnippets({ instructions, snippets }).map(toFault),
    ...toolFaults(agent),
  ]);
}

/** Throws if instructions that replace those of an agent have places for which it has no variable or snippet. */
export function checkInstructions(
  instructions: string,
  { variables = [], snippets = [] }: Pick<AgentSnapshot, "variables" | "snippets">,
  prefix: string,
): void {
  const issues = instructionIssues({ instructions, variables, snippets });
  throwIfInvalid(issues.map(({ param, message }) => fault(`${prefix}${param}`, message)));
}

function snippetFaults(references: readonly string[], pinned: readonly (PinnedSnippet | null)[]): Fault[] {
  return pinned.flatMap((snippet, index) => {
    const param = `snippets[${index}]`;
    if (snippet === null) return [fault(param, `There is no snippet ${references[index]}.`)];
    const isRepeated = pinned.findIndex((other) => other?.name === snippet.name) < index;
    return isRepeated ? [fault(param, `${snippet.name} is named twice.`)] : [];
  });
}

/** An agent has several tools of one MCP server, whose descriptions are not the project's own. */
function toolFaults({ tools, toolIds, variables }: CheckedAgent): Fault[] {
  return (tools ?? []).filter(hasTemplate).flatMap(({ id, description }) => {
    const param = `tools[${toolIds.indexOf(id)}]`;
    return tagIssues(description, variables, param).map(toFault);
  });
}

const toFault = ({ param, message }: { param: string; message: string }): Fault => fault(param, message);
