import type { AgentSnapshot, ToolSnapshot } from "./agent-snapshot.ts";
import { type SkillOperation, skillsFolder } from "./skills.ts";

/**
 * Returns the end of the instructions, which names the agent's skills; empty without any. Only names and descriptions:
 * the rest is loaded when it is needed.
 */
export function skillsText({ instructions, skills = [], tools }: AgentSnapshot): string {
  if (skills.length === 0) return "";
  const lines = skills.map(({ name, description }) => `- ${name}: ${description}`);
  const help = [
    `If a task fits the description of a skill, call ${nameOf("load_skill", tools)} with its name first, and follow what it says.`,
    `Read the files that it names with ${nameOf("read_skill_file", tools)}.`,
    ...(tools.some(({ type }) => type === "code") ? [`Code finds them in ${skillsFolder}/<name>/.`] : []),
  ];
  const text = ["# Skills", help.join(" "), lines.join("\n")].join("\n\n");
  return instructions === "" ? text : `\n\n${text}`;
}

/** Returns the name under which the model calls a tool: the agent may have another one with its usual name. */
const nameOf = (operation: SkillOperation, tools: readonly ToolSnapshot[]): string =>
  tools.find((tool) => tool.type === "skill" && tool.skill.operation === operation)?.name ?? operation;
