import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { environments } from "../scope.ts";
import { actorTypes } from "./enums.ts";
import { CreatedAt, objectOf, ownId } from "./fields.ts";

/** An action, its actor and its target. */
export const AuditEntry = t.named(
  "AuditEntry",
  t.object({
    id: ownId("audit_entry"),
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
          type: t.about("The kind of that object, such as `agent`.", t.text),
          id: t.about("The id of that object, which may be gone by now.", t.text),
        }),
      ),
    ),
    details: t.about(
      "What else is known of it, such as the names of changed fields. It holds no secrets.",
      t.anyObject,
    ),
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
