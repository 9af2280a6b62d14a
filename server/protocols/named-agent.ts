import { isRefusal } from "../domain/errors.ts";
import { isId } from "../domain/ids.ts";
import { notFound } from "../domain/not-found.ts";
import type { Principal } from "../http/principal.ts";
import type { AgentResolver } from "../resources/labels/module.ts";

/** An agent that a client of a protocol names. */
export interface NamedAgent {
  id: string;
  /** How runs name it: by its id, with the label or the version that the client chose. */
  reference: string;
}

/**
 * Returns the agent of a path or a model's name. An id alone is not looked up, because each protocol has its own error
 * for one that does not exist.
 */
export function readNamedAgent(resolver: AgentResolver, principal: Principal, text: string): NamedAgent {
  if (isId("agent", text)) return { id: text, reference: text };
  try {
    const { agent_id: id, version, label } = resolver.resolve(principal, { agent_id: text });
    const choice = label ?? version;
    return { id, reference: choice === null ? id : `${id}@${choice}` };
  } catch (error) {
    if (isRefusal(error, "validation_failed")) throw notFound();
    throw error;
  }
}
