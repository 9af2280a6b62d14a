import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { CreatedAt, Environment, Name, objectOf, ProjectId, Text, UpdatedAt } from "./fields.ts";
import { envelope, resource } from "./schema.ts";

const Version = t.about("The version of its text, from 1. Each change of the text makes a new one.", t.integer);

export const Snippet = resource("Snippet", "snippet", {
  name: Name,
  description: t.about("What it is for; null: no description.", t.orNull(t.text)),
  text: Text,
  version: Version,
  updated_at: UpdatedAt,
});
export type Snippet = Static<typeof Snippet>;

export const SnippetVersion = t.named(
  "SnippetVersion",
  t.object({
    id: t.about("The id of the snippet.", t.text),
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
