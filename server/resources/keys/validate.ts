import { idPattern } from "../../domain/ids.ts";
import { readTimestamp } from "../../domain/time.ts";
import { fault, throwIfInvalid } from "../../http/errors.ts";
import { nameIssues } from "../../http/validate-name.ts";
import { type Cidr, parseCidr } from "../../lib/ip-address.ts";
import type { CreateKey, UpdateKey } from "./schema.ts";

const isAgentId = new RegExp(idPattern("agent"));

/** Throws for faults of a new key that the schema cannot express. */
export function validateCreation({ name, agent_ids, allowed_cidrs }: CreateKey): void {
  const agents = (agent_ids ?? []).flatMap((id, index) =>
    isAgentId.test(id) ? [] : [fault(`agent_ids[${index}]`, "Must be the id of an agent: agt_ and 26 characters.")],
  );
  const networks = (allowed_cidrs ?? []).flatMap((text, index) =>
    canMatch(parseCidr(text)) ? [] : [fault(`allowed_cidrs[${index}]`, "Must be a network such as 203.0.113.0/24.")],
  );
  throwIfInvalid([...nameIssues(name), ...agents, ...networks]);
}

/** True if clients can have an address in it: IPv4 clients never appear as `::ffff:…`. */
const canMatch = (network: Cidr | null): boolean =>
  network !== null && !(network.family === 6 && network.prefix >= 96 && network.value >> 32n === 0xffffn);

/** Throws for an invalid time or name. */
export function validateUpdate({ name, expires_at }: UpdateKey): void {
  const isTime = typeof expires_at !== "string" || readTimestamp(expires_at) !== null;
  const time = fault("expires_at", "Must be a time such as 2026-11-21T01:20:00.123Z, or null.");
  throwIfInvalid([...nameIssues(name), ...(isTime ? [] : [time])]);
}
