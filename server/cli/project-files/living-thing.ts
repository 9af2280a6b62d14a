import { isObject } from "../../lib/json.ts";
import { rules, type Thing } from "./kinds.ts";
import type { StoredThings } from "./stored-things.ts";

/** True for an agent tool, a schedule or a trigger whose agent was deleted: no file can name it. */
export const isOrphan = ({ kind, fields }: Thing, stored: StoredThings): boolean =>
  kind !== "agent" && rules[kind].fields.includes("agent_id") && !isLivingAgent(fields.agent_id, stored);

const isLivingAgent = (id: unknown, stored: StoredThings): boolean =>
  typeof id !== "string" || stored.nameOf("agent", id) !== undefined;

/**
 * Returns an agent without the deleted things that it still names: skills, agents of handoffs and `orphans`, which have
 * the ids of tools. Its runs cannot use them, and files cannot name them.
 */
export function livingThing(thing: Thing, stored: StoredThings, orphans: ReadonlyMap<string, string>): Thing {
  if (thing.kind !== "agent") return thing;
  const isLiving: Record<string, (item: unknown) => boolean> = {
    skills: (skill) => stored.idsOf("skill", String(isObject(skill) ? skill.name : skill)).length > 0,
    handoffs: (handoff) => !isObject(handoff) || isLivingAgent(handoff.agent_id, stored),
    tools: (id) => !orphans.has(String(id)),
  };
  const entries = Object.entries(thing.fields).map(([field, value]) => {
    const keep = isLiving[field];
    return [field, keep && Array.isArray(value) ? value.filter(keep) : value];
  });
  return { ...thing, fields: Object.fromEntries(entries) };
}
