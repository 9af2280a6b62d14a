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
}

interface Templates {
  instructions: string;
  variables?: Variable[];
  snippets?: string[];
}

/** The agents whose current versions use a snippet. */
export function createAgentsUsing({ sqlite }: Db) {
  const select = sqlite.query<Row, [string, Environment, string]>(
    `SELECT id, name, definition FROM agents WHERE project_id = ? AND environment = ?
       AND EXISTS (SELECT 1 FROM json_each(agents.definition, '$.snippets') AS used
         WHERE used.value = ?3 OR used.value LIKE ?3 || '@%') ORDER BY id`,
  );
  const usersOf = ({ project_id, environment }: Scope, name: string): Row[] =>
    select
      .all(project_id, environment, name)
      .filter(({ definition }) => snippetsIn(definition).some((each) => nameIn(each) === name));

  return {
    idsOf: (scope: Scope, name: string): string[] => usersOf(scope, name).map(({ id }) => id),
    /** Throws if the new text does not fit an agent that follows the newest version. */
    requireFit(scope: Scope, { name, text }: { name: string; text: string }, pinnedOf: PinSnippet): void {
      for (const { name: agent, definition } of usersOf(scope, name)) {
        const { instructions, variables = [], snippets = [] } = parseExact<Templates>(definition);
        if (!snippets.includes(name)) continue;
        const pinned = snippets.flatMap((each) => pinnedOf(scope, each) ?? []);
        const after = pinned.map((each) => (each.name === name ? { ...each, text } : each));
        const [issue] = templateIssues({ instructions, variables, snippets: after });
        if (issue) throw invalid("text", `The agent "${agent}" follows this snippet. ${issue.message}`);
      }
    },
  };
}

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
