import type { AgentSnapshot } from "./agent-snapshot.ts";
import { everyAgent } from "./handoff.ts";
import type { Variable, VariableValues } from "./variable.ts";
import { fitsPrompt, missingVariables, valueIssue } from "./variables.ts";

// A run has one set of values for its own agent and for those that it may hand over to. Each agent has its own defaults.

interface Issue {
  name: string;
  message: string;
}

/** A declaration of a variable; `agent` is null for the run's own agent. */
interface Declaration {
  variable: Variable;
  agent: string | null;
}

/** True if the run's agent, or one that it may hand over to, has texts that are rendered. */
export const hasTexts = (agent: AgentSnapshot): boolean =>
  everyAgent(agent).some(({ variables, snippets }) => variables || snippets);

function declarationsIn(agent: AgentSnapshot): Map<string, Declaration[]> {
  const found = new Map<string, Declaration[]>();
  for (const each of everyAgent(agent))
    for (const variable of each.variables ?? []) {
      const declaration = { variable, agent: each === agent ? null : each.name };
      found.set(variable.name, [...(found.get(variable.name) ?? []), declaration]);
    }
  return found;
}

/** Returns why a value does not fit each agent that has the variable; null if it does. */
function issueOf(declarations: readonly Declaration[], value: unknown): string | null {
  for (const { variable, agent } of declarations) {
    const message = valueIssue(variable, value);
    if (message !== null) return agent === null ? message : `${message} (${namedTarget(agent)})`;
  }
  return null;
}

const namedTarget = (agent: string): string => `the agent ${JSON.stringify(agent)}, which a handoff leads to`;

/** Returns what is wrong with the values that a request gives: unknown names, and types that do not fit every agent. */
export function teamValueIssues(agent: AgentSnapshot, values: Record<string, unknown>): Issue[] {
  const declared = declarationsIn(agent);
  return Object.entries(values).flatMap(([name, value]) => {
    const declarations = declared.get(name);
    const message = declarations ? issueOf(declarations, value) : "The agent has no variable of this name.";
    return message === null ? [] : [{ name, message }];
  });
}

/** Returns what is wrong with the values of variables that an agent has; other names do not count. */
export function teamDeclaredIssues(agent: AgentSnapshot, values: VariableValues): Issue[] {
  const declared = declarationsIn(agent);
  return teamValueIssues(agent, values).filter(({ name }) => declared.has(name));
}

/** Returns the values that fit every agent which has the variable; for values that were given with no agent in view. */
export function teamFittingValues(agent: AgentSnapshot, values: VariableValues): VariableValues {
  const fitting = [...declarationsIn(agent)].flatMap(([name, declarations]) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    return value === undefined || issueOf(declarations, value) !== null ? [] : [[name, value] as const];
  });
  return Object.fromEntries(fitting);
}

/** Returns the required variables without a value and a default, each once, with the agent that needs it. */
export function teamMissingIssues(agent: AgentSnapshot, values: VariableValues): Issue[] {
  const issues = new Map<string, Issue>();
  for (const each of everyAgent(agent))
    for (const { name } of missingVariables(each.variables ?? [], values)) {
      const needing =
        each === agent ? "The agent" : `The agent ${JSON.stringify(each.name)}, which a handoff leads to,`;
      if (!issues.has(name)) issues.set(name, { name, message: `${needing} needs a value of the variable ${name}.` });
    }
  return [...issues.values()];
}

/** True if the texts of no agent of the run are too long with these values. */
export const teamFitsPrompt = (agent: AgentSnapshot, values: VariableValues): boolean =>
  everyAgent(agent).every((each) => fitsPrompt(each, values));
