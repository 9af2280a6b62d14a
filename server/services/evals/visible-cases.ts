import type { Viewer } from "../../http/auth.ts";
import type { Condition } from "../../http/row-filter.ts";

/** Hides suites with a case of an agent that the viewer may not use: a part of a suite would be misleading. */
export const visibleCases = ({ agent_ids }: Viewer, table: string, cases: string, column: string): Condition[] =>
  agent_ids
    ? [
        {
          sql: `NOT EXISTS (SELECT 1 FROM ${cases} c WHERE c.project_id = ${table}.project_id
            AND c.environment = ${table}.environment AND c.${column} = ${table}.id
            AND c.agent_id NOT IN (SELECT value FROM json_each(?)))`,
          values: [JSON.stringify(agent_ids)],
        },
      ]
    : [];
