import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import { everyAgent } from "../../domain/handoff.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Db } from "../../storage/db/open.ts";

/**
 * SQL condition: a run has pinned the skill of this row, and its trace is stored, so that the run, a fork or a replay may
 * read its files.
 */
export const isPinned = `EXISTS (
  SELECT 1 FROM run_files AS given JOIN runs ON runs.id = given.run_id
  WHERE given.project_id = skills.project_id AND given.environment = skills.environment AND given.file_id = skills.id
    AND runs.summary IS NULL)`;

/**
 * Tracks which runs have pinned which skills, beside the files that runs were given. Returns a function to call inside the
 * write that pins an agent.
 */
export function createSkillUses({ db: { sqlite } }: { db: Db }) {
  const insertion = sqlite.query(
    `INSERT OR IGNORE INTO run_files (project_id, environment, file_id, run_id)
     VALUES ($project_id, $environment, $skill_id, $run_id)`,
  );
  return ({ project_id, environment }: Scope, run_id: string, agent: AgentSnapshot): void => {
    for (const { skills = [] } of everyAgent(agent))
      for (const { skill_id } of skills) insertion.run({ project_id, environment, skill_id, run_id });
  };
}
