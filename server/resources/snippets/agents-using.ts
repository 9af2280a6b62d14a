import type { Environment, Scope } from "../../domain/scope.ts";
import { templateIssues } from "../../domain/template-issues.ts";
import type { PinnedSnippet, Variable } from "../../domain/variable.ts";
import { invalid } from "../../http/errors.ts";
import { parseExact } from "../../lib/exact-numbers.ts";
import type { Db } from "../../storage/db/open.ts";

interface Row {
  id: string;
  name: string;
  definition: string;
  /** Version that a label holds; null for the current one. */
  held: number | null;
}

interface Templates {
  instructions: string;
  variables?: Variable[];
  snippets?: string[];
}

const uses = (definition: string) => `EXISTS (SELECT 1 FROM json_each(${definition}, '$.snippets') AS used
  WHERE used.value = ?3 OR used.value LIKE ?3 || '@%')`;

/** The agents that use a snippet: in their current versions, or in others that a label holds. */
export function createAgentsUsing({ sqlite }: Db) {
  const select = sqlite.query<Row, [string, Environment, string]>(
    `SELECT id, name, definition, NULL AS held FROM agents
       WHERE project_id = ?1 AND environment = ?2 AND ${uses("agents.definition")}
     UNION
     SELECT agents.id, agents.name, version.definition, version.version AS held
       FROM agent_labels label
       JOIN json_each(label.shares) share
       JOIN agents ON agents.project_id = ?1 AND agents.environment = ?2 AND agents.id = label.agent_id
       JOIN agent_versions version ON version.project_id = ?1 AND version.environment = ?2
         AND version.agent_id = label.agent_id AND version.version = share.value ->> 'version'
       WHERE label.project_id = ?1 AND label.environment = ?2
         AND version.version <> agents.version AND ${uses("version.definition")}
     ORDER BY id, held`,
  );
  const usersOf = ({ project_id, environment }: Scope, name: string): Row[] =>
    select
      .all(project_id, environment, name)
      .filter(({ definition }) => snippetsIn(definition).some((each) => nameIn(each) === name));

  return {
    idsOf: (scope: Scope, name: string): string[] => [...new Set(usersOf(scope, name).map(({ id }) => id))],
    /** Throws if the new text does not fit an agent that follows the newest version. */
    requireFit(scope: Scope, { name, text }: { name: string; text: string }, pinnedOf: PinSnippet): void {
      for (const user of usersOf(scope, name)) {
        const { instructions, variables = [], snippets = [] } = parseExact<Templates>(user.definition);
        if (!snippets.includes(name)) continue;
        const pinned = snippets.flatMap((each) => pinnedOf(scope, each) ?? []);
        const after = pinned.map((each) => (each.name === name ? { ...each, text } : each));
        const [issue] = templateIssues({ instructions, variables, snippets: after });
        if (issue) throw invalid("text", `${called(user)} follows this snippet. ${issue.message}`);
      }
    },
  };
}

const called = ({ name, held }: Row): string =>
  held === null ? `The agent "${name}"` : `Version ${held} of the agent "${name}", which a label holds,`;

/** Returns the snippet that a reference names, with the text of its version; null if there is none. */
type PinSnippet = (scope: Scope, reference: string) => PinnedSnippet | null;

const snippetsIn = (definition: string): string[] => parseExact<Templates>(definition).snippets ?? [];

/** Name in a reference: `tone@3`. */
export const nameIn = (reference: string): string => reference.split("@", 1)[0] ?? "";

/** Version in a reference; null if it follows the newest one. */
export const versionIn = (reference: string): number | null => {
  const at = reference.indexOf("@");
  return at === -1 ? null : Number(reference.slice(at + 1));
};
