import type { MemoryPolicy } from "../core/agent-snapshot.ts";
import type { Environment, Scope } from "../core/scope.ts";
import type { Db } from "../db/open.ts";
import { agentTools } from "../db/schema.ts";
import { fault, refuse } from "../http/errors.ts";
import type { ToolReference } from "./definition.ts";
import { type FactsOf, presentStores } from "./memory-policy.ts";
import { memoryTools } from "./memory-tools.ts";

export type AttachedTools = ReturnType<typeof createAttachedTools>;

/** Which tools agents have, in their order. */
export function createAttachedTools(db: Db) {
  const { sqlite } = db;
  // Neither join nor sort in SQL: each would cost more than all the rest of reading an agent.
  const attached = sqlite.query<ToolReference & { position: number }, [string, string, string]>(
    `SELECT tool_id AS id, position,
       (SELECT name FROM tools t WHERE t.project_id = a.project_id AND t.environment = a.environment AND t.id = tool_id) AS name,
       (SELECT type FROM tools t WHERE t.project_id = a.project_id AND t.environment = a.environment AND t.id = tool_id) AS type
     FROM agent_tools a WHERE project_id = ? AND environment = ? AND agent_id = ?`,
  );
  const references = db.kept.rows((project_id: string, environment: Environment, id: string): ToolReference[] =>
    attached
      .all(project_id, environment, id)
      .sort((a, b) => a.position - b.position)
      .map(({ id, name, type }) => ({ id, name, type })),
  );
  const tool = sqlite.query<ToolReference, [string, string, string]>(
    "SELECT id, name, type FROM tools WHERE project_id = ? AND environment = ? AND id = ?",
  );
  const detach = sqlite.query("DELETE FROM agent_tools WHERE project_id = ? AND environment = ? AND agent_id = ?");

  return {
    of: ({ project_id, environment }: Scope, id: string): ToolReference[] => references.of(project_id, environment, id),
    /** Throws for ids of no tools. */
    require({ project_id, environment }: Scope, ids: readonly string[], prefix = ""): ToolReference[] {
      const found = ids.map((id) => tool.get(project_id, environment, id));
      refuse(found.flatMap((each, i) => (each ? [] : [noTool(`${prefix}tools[${i}]`)])));
      return found as ToolReference[];
    },
    /** Within a write: the agent has these, and no others. */
    attach({ project_id, environment }: Scope, agent_id: string, tools: readonly ToolReference[]): void {
      detach.run(project_id, environment, agent_id);
      const rows = tools.map(({ id }, position) => ({ project_id, environment, agent_id, tool_id: id, position }));
      if (rows.length > 0) db.orm.insert(agentTools).values(rows).run();
    },
  };
}

export const noTool = (param: string) => fault(param, "There is no such tool.");

/** Throws for tools that are named like one that comes with the memory. */
export function requireOtherNames(
  memory: MemoryPolicy | null,
  tools: readonly ToolReference[],
  factsOf: FactsOf,
  prefix = "",
): void {
  const names = memory ? memoryTools(presentStores(memory, factsOf)).map(({ name }) => name) : [];
  const faults = tools.flatMap(({ name }, i) =>
    names.includes(name)
      ? [fault(`${prefix}tools[${i}]`, `The agent's memory comes with a tool "${name}" of its own.`)]
      : [],
  );
  refuse(faults);
}
