import { type Static, Type } from "@sinclair/typebox";
import { Metadata } from "../../http/schemas.ts";
import { about, closedObject } from "../../lib/schema.ts";

/** Pattern of a secret's name. */
export const secretName = "^[A-Za-z_][A-Za-z0-9_]{0,63}$";

/**
 * Body of `PUT /v1/secrets/:name`. The value is checked in routes.ts, because a pattern would make a poor error
 * message.
 */
export const PutSecret = closedObject({
  value: about(
    "What tools send in its place. It is stored encrypted, and no request returns it.",
    Type.String({ minLength: 1, maxLength: 8192 }),
  ),
  metadata: Type.Optional(Metadata),
});
export type PutSecret = Static<typeof PutSecret>;
