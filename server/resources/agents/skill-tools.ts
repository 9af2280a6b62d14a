import type { SkillTool } from "../../domain/agent-snapshot.ts";
import { limits } from "../../domain/limits.ts";
import type { JsonSchema } from "../../domain/model-call.ts";
import type { PinnedSkill, SkillOperation } from "../../domain/skills.ts";
import { freeToolName } from "./free-tool-name.ts";

interface Operation {
  description: string;
  properties: Record<string, JsonSchema>;
  required: string[];
}

const operations: Record<SkillOperation, Operation> = {
  load_skill: {
    description: "Loads the instructions of a skill, and the names of its files.",
    properties: {},
    required: ["name"],
  },
  read_skill_file: {
    description: "Reads a text file of a skill. A long file is cut: read on from a later line.",
    properties: {
      path: { type: "string", minLength: 1, maxLength: 512, description: "The path, as the skill names it." },
      first_line: { type: "integer", minimum: 1, description: "The line to begin with; default: 1." },
    },
    required: ["name", "path"],
  },
};

/** Builds the tools by which a model reads these skills; `usedNames` are the names of the agent's other tools. */
export function skillTools(skills: readonly PinnedSkill[], usedNames: ReadonlySet<string>): SkillTool[] {
  if (skills.length === 0) return [];
  const name = { type: "string", enum: skills.map((skill) => skill.name), description: "Which skill." };
  return Object.entries(operations).map(([operation, { description, properties, required }]) => ({
    id: operation,
    name: freeToolName(operation, usedNames),
    description,
    parameters: { type: "object", properties: { name, ...properties }, required, additionalProperties: false },
    type: "skill",
    approval: "never",
    idempotent: true,
    on_unknown: "retry",
    max_output_bytes: limits.tool_output_bytes,
    http: null,
    skill: {
      operation: operation as SkillOperation,
      skills: skills.map(({ skill_id, version, name }) => ({ skill_id, version, name })),
    },
  }));
}
