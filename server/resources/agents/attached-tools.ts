import type { MemoryPolicy } from "../../domain/agent-snapshot.ts";
import { noSuch } from "../../domain/error-messages.ts";
import type { Environment, Scope } from "../../domain/scope.ts";
import { fault, throwIfInvalid } from "../../http/errors.ts";
import type { Db } from "../../storage/db/open.ts";
import { agentTools } from "../../storage/db/schema.ts";
import type { ToolReference } from "./definition.ts";
import { type FactsOf, presentStores } from "./memory-policy.ts";
import { memoryTools } from "./memory-tools.ts";

export type AttachedTools = ReturnType<typeof createAttachedTools>;

/** The ordered tools of each agent. */
export function createAttachedTools(db: Db) {
  const { sqlite } = db;
  // Neither join nor sort in SQL: either would cost more than everything else in reading an agent.
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
    /** Throws for unknown tool ids. */
    require({ project_id, environment }: Scope, ids: readonly string[], prefix = ""): ToolReference[] {
      const found = ids.map((id) => tool.get(project_id, environment, id));
      throwIfInvalid(found.flatMap((each, i) => (each ? [] : [missingToolIssue(`${prefix}tools[${i}]`)])));
      return found as ToolReference[];
    },
    /** Replaces the agent's tools. Call inside a write. */
    attach({ project_id, environment }: Scope, agent_id: string, tools: readonly ToolReference[]): void {
      detach.run(project_id, environment, agent_id);
      const rows = tools.map(({ id }, position) => ({ project_id, environment, agent_id, tool_id: id, position }));
      if (rows.length > 0) db.orm.insert(agentTools).values(rows).run();
    },
  };
}

export const missingToolIssue = (param: string) => fault(param, noSuch("tool"));

/** Throws if a tool has the same name as a memory tool. */
export function requireUniqueNames(
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
  throwIfInvalid(faults);
}
