import { type Static, Type } from "@sinclair/typebox";
import { noSuch } from "../../domain/error-messages.ts";
import type { Fault } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { Scope } from "../../domain/scope.ts";
import type { PinnedSkill } from "../../domain/skills.ts";
import { fault, throwIfInvalid } from "../../http/errors.ts";
import { idOf } from "../../http/schemas.ts";
import { about, integer, list, named, object, orNull, partial, text } from "../../lib/schema.ts";

const SkillReferenceInput = named(
  "SkillReferenceInput",
  partial({
    skill_id: about("Id of the skill: `skl_…`. Give this or `name`.", idOf("skill")),
    name: about(
      "What the skill is called: the name of its folder. Give this or `skill_id`.",
      Type.String({ minLength: 1, maxLength: 64 }),
    ),
    version: about(
      "The number of the version that its runs use; null: the newest one when a run begins.",
      orNull(Type.Integer({ minimum: 1 })),
    ),
  }),
);

/** Skills of an agent, as a request names them. */
export const SkillsInput = Type.Array(Type.Union([Type.String({ minLength: 1, maxLength: 64 }), SkillReferenceInput]), {
  maxItems: limits.skills_per_agent,
});

/** A skill of an agent, as it is stored and shown. */
export const SkillReference = named(
  "SkillReference",
  object({
    skill_id: about("Id of the skill: `skl_…`, for `GET /v1/skills/:id`.", text),
    name: about("What the skill is called: the name of its folder.", text),
    version: about(
      "The number of the version that its runs use; null: the newest one when a run begins.",
      orNull(integer),
    ),
  }),
);
export const SkillReferences = list(SkillReference);
export type SkillReference = Static<typeof SkillReference>;

/** Skills of the project that an agent may have. */
export interface ProjectSkills {
  find(scope: Scope, named: string, version: number | null): { skill_id: string; name: string } | null;
  pin(scope: Scope, references: readonly SkillReference[]): PinnedSkill[];
}

/** No skills, for stores without them. */
export const noSkills: ProjectSkills = { find: () => null, pin: () => [] };

/**
 * Completes the skills of a request. Throws for unknown ones; those that the agent `had` may stay, although they were
 * deleted since.
 */
export function completeSkills(
  input: Static<typeof SkillsInput>,
  had: readonly SkillReference[],
  find: (named: string, version: number | null) => { skill_id: string; name: string } | null,
): SkillReference[] {
  const faults: Fault[] = [];
  const complete = input.flatMap((given, i): SkillReference[] => {
    const param = `skills[${i}]`;
    const { skill_id, name, version = null } = typeof given === "string" ? { skill_id: given } : given;
    const named = skill_id ?? name;
    if (named === undefined) {
      faults.push(fault(param, "Must have a skill_id or a name."));
      return [];
    }
    const known =
      find(named, version) ?? had.find((each) => each.skill_id === named && each.version === version) ?? null;
    if (!known) faults.push(fault(param, find(named, null) ? noSuch("version") : noSuch("skill")));
    return known ? [{ skill_id: known.skill_id, name: known.name, version }] : [];
  });
  for (const [i, { name }] of complete.entries())
    if (complete.findIndex((other) => other.name === name) < i)
      faults.push(fault(`skills[${i}]`, "This skill is in the list already."));
  throwIfInvalid(faults);
  return complete;
}
