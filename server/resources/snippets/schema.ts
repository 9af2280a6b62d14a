import { type Static, Type } from "@sinclair/typebox";
import { limits } from "../../domain/limits.ts";
import { snippetName } from "../../domain/template.ts";
import { Metadata } from "../../http/schemas.ts";
import { about, orNull, partial, partly } from "../../lib/schema.ts";

const Text = about(
  "The text. It may have variables of the agents that use it, and no snippets.",
  Type.String({ minLength: 1, maxLength: limits.snippet_bytes }),
);
const optional = {
  description: about("A note for people on what it is used for; null: none.", orNull(Type.String({ maxLength: 4096 }))),
  metadata: Metadata,
};

export const CreateSnippet = partly(
  {
    name: about("Its name, as in `{{> name}}`. It cannot be changed.", Type.String({ pattern: snippetName })),
    text: Text,
  },
  optional,
);
export type CreateSnippet = Static<typeof CreateSnippet>;

export const UpdateSnippet = partial({
  text: Text,
  ...optional,
  expected_version: about(
    "The version that is to be changed; 409 `version_conflict` where there is a newer one.",
    Type.Integer({ minimum: 1 }),
  ),
});
export type UpdateSnippet = Static<typeof UpdateSnippet>;

export const snippetFilters = { name: about("Only the snippet of this name.", Type.String({ pattern: snippetName })) };
