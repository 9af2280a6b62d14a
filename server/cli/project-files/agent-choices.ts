import { readAgentName } from "../../domain/agent-label.ts";
import { isObject } from "../../lib/json.ts";
import { usageError } from "../commands/exit-code.ts";
import type { FileThing } from "./read-files.ts";
import type { StoredThings } from "./stored-things.ts";

type Fields = Record<string, unknown>;

/**
 * Returns the things with `agent: desk@production` as an agent and a label, which is how the server shows it. A text that
 * is the whole name of an agent stays.
 */
export function withAgentChoices(things: readonly FileThing[], stored: Pick<StoredThings, "idsOf">): FileThing[] {
  const isAgent = (name: string): boolean =>
    things.some((thing) => thing.kind === "agent" && thing.name === name) || stored.idsOf("agent", name).length > 0;
  return things.map((thing) => {
    const { kind, path, fields } = thing;
    if (kind === "schedule" || kind === "tool") return { ...thing, fields: chosen(fields, isAgent, `${path}: `) };
    if (kind !== "agent" || !Array.isArray(fields.handoffs)) return thing;
    const handoffs = fields.handoffs.map((given, index) => {
      if (typeof given !== "string" && !isObject(given)) return given;
      return chosen(typeof given === "string" ? { agent: given } : given, isAgent, `${path}: handoffs[${index}].`);
    });
    return { ...thing, fields: { ...fields, handoffs } };
  });
}

/** Returns fields whose `agent` is only a name; its version or label is a field of its own. */
function chosen(fields: Fields, isAgent: (name: string) => boolean, at: string): Fields {
  const { agent } = fields;
  if (typeof agent !== "string" || isAgent(agent)) return fields;
  const { name, ...choice } = readAgentName(agent) ?? { name: agent };
  if (Object.keys(choice).length === 0) return fields;
  if (fields.version != null || fields.label != null)
    throw usageError(`${at}agent: It names a version already, so leave version and label out.`);
  return { ...fields, agent: name, ...choice };
}
