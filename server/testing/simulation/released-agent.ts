import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import { httpTool, teamMember, tool } from "../run-fixture.ts";
import type { Skills } from "./skills.ts";

/** Agent whose versions have a label, which clients move. */
export const released = "agt_released";
export const label = "production";
export const versions = [1, 2, 3, 4];

const url = "http://tools.invalid/";

/** Returns the agent's instructions in a version: a run that changes its version changes its prompts. */
export const instructionsOf = (version: number): string => `You are version ${version}.`;

/** Returns the agent in a version, which has its own version of the skill and other tools than its neighbors. */
export function agentOfVersion(
  version: number,
  { pinned, toolsOf }: Pick<Skills, "pinned" | "toolsOf">,
): AgentSnapshot {
  const skills = pinned(version);
  const own = version % 2 === 0 ? tool("look") : httpTool("once", url);
  return teamMember(released, [], {
    version,
    instructions: instructionsOf(version),
    tools: [httpTool("safe", url, { idempotent: true }), own, ...toolsOf(skills)],
    skills,
    max_turns: 1 + version,
  });
}
