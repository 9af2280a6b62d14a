import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { environments } from "../scope.ts";
import { actorTypes } from "./enums.ts";

/** An action, its actor and its target. */
export const AuditEntry = t.named(
  "AuditEntry",
  t.object({
    id: t.text,
    object: t.word("audit_entry"),
    action: t.text,
    actor: t.object({ type: t.oneOf(actorTypes), id: t.text, ip: t.orNull(t.text) }),
    target: t.orNull(t.object({ type: t.text, id: t.text })),
    details: t.anyObject,
    request_id: t.orNull(t.text),
    metadata: t.anyObject,
    created_at: t.time,
    project_id: t.orNull(t.text),
    environment: t.orNull(t.oneOf(environments)),
  }),
);
export type AuditEntry = Static<typeof AuditEntry>;
