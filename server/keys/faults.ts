import type { Fault } from "../core/errors.ts";
import { idPattern } from "../core/ids.ts";
import { fault, validationError } from "../http/errors.ts";
import { parseCidr } from "../lib/ip-address.ts";
import type { CreateKey, UpdateKey } from "./schema.ts";

const isAgentId = new RegExp(idPattern("agent"));

/** Throws for what the schema cannot say of a new key. */
export function checkCreation({ agent_ids, allowed_cidrs }: CreateKey): void {
  const agents = (agent_ids ?? []).flatMap((id, index) =>
    isAgentId.test(id) ? [] : [fault(`agent_ids[${index}]`, "Expected the id of an agent: agt_ and 26 characters.")],
  );
  const networks = (allowed_cidrs ?? []).flatMap((text, index) =>
    parseCidr(text) ? [] : [fault(`allowed_cidrs[${index}]`, "Expected a network such as 203.0.113.0/24.")],
  );
  refuseAny([...agents, ...networks]);
}

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;

/** Throws for a time that is none. */
export function checkUpdate({ expires_at }: UpdateKey): void {
  if (typeof expires_at !== "string" || (rfc3339.test(expires_at) && !Number.isNaN(Date.parse(expires_at)))) return;
  refuseAny([fault("expires_at", "Expected a time such as 2026-11-21T01:20:00.123Z, or null.")]);
}

function refuseAny(faults: readonly Fault[]): void {
  if (faults.length > 0) throw validationError(faults);
}
