import { type Static, Type } from "@sinclair/typebox";
import { Metadata } from "../http/schemas.ts";
import { exact } from "../lib/schema.ts";

/** Pattern of a secret's name. */
export const secretName = "^[A-Za-z_][A-Za-z0-9_]{0,63}$";

/** Body of `PUT /v1/secrets/:name`. What a value may hold is a rule of routes.ts: a pattern would be its whole message. */
export const PutSecret = exact({
  value: Type.String({ minLength: 1, maxLength: 8192 }),
  metadata: Type.Optional(Metadata),
});
export type PutSecret = Static<typeof PutSecret>;
