import type { Static } from "@sinclair/typebox";
import { environments } from "../core/scope.ts";
import { actorTypes } from "./names.ts";
import { anyObject, named, object, oneOf, orNull, text, time, word } from "./schema.ts";

/** Who did what to which thing. */
export const AuditEntry = named(
  "AuditEntry",
  object({
    id: text,
    object: word("audit_entry"),
    action: text,
    actor: object({ type: oneOf(actorTypes), id: text, ip: orNull(text) }),
    target: orNull(object({ type: text, id: text })),
    details: anyObject,
    request_id: orNull(text),
    metadata: anyObject,
    created_at: time,
    project_id: orNull(text),
    environment: orNull(oneOf(environments)),
  }),
);
export type AuditEntry = Static<typeof AuditEntry>;
