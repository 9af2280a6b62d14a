import type { SkillTool } from "../../domain/agent-snapshot.ts";
import { type PinnedSkill, skillFile } from "../../domain/skills.ts";
import { skillTools } from "../../resources/agents/skill-tools.ts";
import type { Question } from "../../runtime/agent-loop/messages.ts";
import type { World } from "./world.ts";

export type Skills = ReturnType<typeof createSkills>;

export const skillName = "guide";
const skill_id = "skl_guide";
const notes = "notes.md";

/** Returns what a file says in a version. */
export const skillTextOf = (version: number, path: string): string => `${path} of version ${version}`;

const contentOf = (version: number, path: string): string =>
  path === skillFile
    ? `---\nname: ${skillName}\ndescription: Says how.\n---\n${skillTextOf(version, path)}\n`
    : `${skillTextOf(version, path)}\n`;

/** A skill whose author publishes versions while runs are under way. Each run reads the version that it has pinned. */
export function createSkills(world: World) {
  let newest = 1;

  return {
    /** Publishes a version. */
    publish(): void {
      newest++;
      world.note(`author: skill version ${newest}`);
    },
    pinned: (version = newest): PinnedSkill[] => [{ skill_id, version, name: skillName, description: "Says how." }],
    toolsOf: (skills: readonly PinnedSkill[]): SkillTool[] => skillTools(skills, new Set()),
    /** Answers the questions of the tools. */
    answer(question: Question): unknown {
      if (question.of === "skill_files") {
        const files = [skillFile, notes].map((path) => ({ path, bytes: contentOf(question.version, path).length }));
        return world.wait("the skill is found").then(() => ({ files }));
      }
      if (question.of !== "read_skill_file") return undefined;
      const content = Buffer.from(contentOf(question.version, question.path)).toBase64();
      return world.wait("the skill is read").then(() => ({ content }));
    },
  };
}

/** Files that models ask for; one of them is not there. */
export const skillPaths = [notes, skillFile, "other.md"];
