import { idPattern } from "../core/ids.ts";
import { readTimestamp } from "../core/time.ts";
import { fault, refuse } from "../http/errors.ts";
import { nameFaults } from "../http/name-fault.ts";
import { type Cidr, parseCidr } from "../lib/ip-address.ts";
import type { CreateKey, UpdateKey } from "./schema.ts";

const isAgentId = new RegExp(idPattern("agent"));

/** Throws for what the schema cannot say of a new key. */
export function checkCreation({ name, agent_ids, allowed_cidrs }: CreateKey): void {
  const agents = (agent_ids ?? []).flatMap((id, index) =>
    isAgentId.test(id) ? [] : [fault(`agent_ids[${index}]`, "Expected the id of an agent: agt_ and 26 characters.")],
  );
  const networks = (allowed_cidrs ?? []).flatMap((text, index) =>
    canMatch(parseCidr(text)) ? [] : [fault(`allowed_cidrs[${index}]`, "Expected a network such as 203.0.113.0/24.")],
  );
  refuse([...nameFaults(name), ...agents, ...networks]);
}

/** Whether it is a network that clients come from: IPv4 clients do so by IPv4, and never as `::ffff:…`. */
const canMatch = (network: Cidr | null): boolean =>
  network !== null && !(network.family === 6 && network.prefix >= 96 && network.value >> 32n === 0xffffn);

/** Throws for a time that is none, and for a name that cannot be read. */
export function checkUpdate({ name, expires_at }: UpdateKey): void {
  const isTime = typeof expires_at !== "string" || readTimestamp(expires_at) !== null;
  const time = fault("expires_at", "Expected a time such as 2026-11-21T01:20:00.123Z, or null.");
  refuse([...nameFaults(name), ...(isTime ? [] : [time])]);
}
