import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { environments } from "../scope.ts";
import { actorTypes } from "./enums.ts";
import { CreatedAt, Id, objectOf } from "./fields.ts";

/** An action, its actor and its target. */
export const AuditEntry = t.named(
  "AuditEntry",
  t.object({
    id: Id,
    object: objectOf("audit_entry"),
    action: t.about("What was done, as `<thing>.<done>`.", t.text),
    actor: t.about(
      "Who did it.",
      t.object({
        type: t.about("Whether a key, a person or the command line did it.", t.oneOf(actorTypes)),
        id: t.about("The id of that key or person.", t.text),
        ip: t.about("The address that the request came from; null where there is none.", t.orNull(t.text)),
      }),
    ),
    target: t.about(
      "The object that it was done to; null if there is none.",
      t.orNull(
        t.object({
          type: t.about("What it was done to.", t.text),
          id: t.about("The id of what it was done to.", t.text),
        }),
      ),
    ),
    details: t.about("Details of what was done.", t.anyObject),
    request_id: t.about("The request by which it was done; null where it was none.", t.orNull(t.text)),
    metadata: t.about("Always empty: entries cannot be changed.", t.anyObject),
    created_at: CreatedAt,
    project_id: t.about("The project in which it was done; null where it is of none.", t.orNull(t.text)),
    environment: t.about(
      "The environment in which it was done; null where it is of no project.",
      t.orNull(t.oneOf(environments)),
    ),
  }),
);
export type AuditEntry = Static<typeof AuditEntry>;
