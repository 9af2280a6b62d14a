import { templateIssues, unplacedSnippets } from "../../domain/template-issues.ts";
import type { PinnedSnippet, Variable } from "../../domain/variable.ts";
import { nameIn, versionIn } from "../../resources/snippets/agents-using.ts";
import type { ApiClient } from "../commands/api-client.ts";
import { CliError } from "../commands/exit-code.ts";
import type { Thing } from "./kinds.ts";
import type { StoredThings } from "./stored-things.ts";

/** Texts of the snippets that a plan creates or changes, by name. */
export type PlannedTexts = ReadonlyMap<string, string>;

interface AgentTexts {
  instructions: string;
  variables: Variable[];
  snippets: string[];
}

/**
 * Returns the texts of an agent that names snippets which the plan creates or changes; null for any other. The server
 * cannot check such texts, because it has other snippets.
 */
export function textsToCheck({ kind, fields }: Thing, planned: PlannedTexts): AgentTexts | null {
  const { instructions, variables, snippets } = fields;
  if (kind !== "agent" || typeof instructions !== "string" || !isTexts(snippets)) return null;
  if (!snippets.some((reference) => planned.has(nameIn(reference)))) return null;
  // The server has refused variables that are none.
  return { instructions, variables: (variables ?? []) as Variable[], snippets };
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string");

interface Checks {
  client: ApiClient;
  stored: StoredThings;
  planned: PlannedTexts;
}

/** Throws if an agent's texts do not fit its variables and the snippets that it will have. */
export async function checkTexts({ instructions, variables, snippets: references }: AgentTexts, checks: Checks) {
  const snippets: PinnedSnippet[] = [];
  for (const reference of references) snippets.push(await pinned(reference, checks));
  const [issue] = [
    ...templateIssues({ instructions, variables, snippets }),
    ...unplacedSnippets({ instructions, snippets }),
  ];
  if (issue) throw new CliError(`${issue.param}: ${issue.message}`);
}

async function pinned(reference: string, { client, stored, planned }: Checks): Promise<PinnedSnippet> {
  const [name, version] = [nameIn(reference), versionIn(reference)];
  const text = planned.get(name);
  if (version === null && text !== undefined) return { name, version: 1, text };
  const id = stored.idOf("snippet", name);
  // A new snippet begins with its first version, which is the planned text.
  if (id === undefined && version === 1 && text !== undefined) return { name, version, text };
  if (id === undefined) throw new CliError(`snippets: There is no snippet ${reference}.`);
  const from = version === null ? `/snippets/${id}` : `/snippets/${id}/versions/${version}`;
  return client.get<PinnedSnippet>(from);
}
