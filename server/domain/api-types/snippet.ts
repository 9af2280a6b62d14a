import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { CreatedAt, Environment, objectOf, ProjectId, UpdatedAt } from "./fields.ts";
import { envelope, resource } from "./schema.ts";

const Name = t.about("The name by which instructions include the text: `{{> name}}`.", t.text);
const Text = t.about("What stands in instructions in place of `{{> name}}`.", t.text);
const Version = t.about("The version of its text, from 1. Each change of the text makes a new one.", t.integer);

export const Snippet = resource("Snippet", "snippet", {
  name: Name,
  description: t.about("A note for people on what it is used for; null: none.", t.orNull(t.text)),
  text: Text,
  version: Version,
  updated_at: UpdatedAt,
});
export type Snippet = Static<typeof Snippet>;

export const SnippetVersion = t.named(
  "SnippetVersion",
  t.object({
    id: t.about("The id that all versions of the snippet share: `snp_…`.", t.text),
    object: objectOf("snippet_version"),
    name: Name,
    text: Text,
    version: Version,
    created_at: CreatedAt,
    project_id: ProjectId,
    environment: Environment,
    truncated: t.about("The names of fields that are cut short.", t.optional(t.list(t.text))),
    ...envelope,
  }),
);
export type SnippetVersion = Static<typeof SnippetVersion>;
