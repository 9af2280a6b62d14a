import { skillsFolder } from "../../../domain/skills.ts";
import type { ProgramFile } from "../../sandbox/program.ts";
import type { ToolContext } from "./context.ts";
import { readSkillFile } from "./read-skill-file.ts";
import { type ToolResult, toolError } from "./tool-result.ts";

/**
 * Reads the files of the agent's skills for a program, which finds them in a folder for each. A deleted skill has none.
 * Fails if they have more than `room` bytes, because all are held in memory at once.
 */
export async function filesOfSkills(
  { skills = [], ask }: Pick<ToolContext, "skills" | "ask">,
  room: number,
): Promise<ProgramFile[] | ToolResult> {
  const lists = await Promise.all(
    skills.map(async ({ skill_id, version, name }) => {
      const content = await ask("skill_files", { skill_id, version });
      return (content?.files ?? []).map((file) => ({ skill_id, version, name, ...file }));
    }),
  );
  const files = lists.flat();
  if (files.reduce((sum, { bytes }) => sum + bytes, 0) > room)
    return toolError("files_too_large", "The files of the agent's skills are too large for a program.", 0);
  const mounted: ProgramFile[] = [];
  for (const { skill_id, version, name, path, bytes } of files) {
    const content = await readSkillFile({ skill_id, version, path, bytes }, ask);
    if (content) mounted.push({ name: `${skillsFolder}/${name}/${path}`, bytes: content });
  }
  return mounted;
}
