import { type Static, Type } from "@sinclair/typebox";
import { toolTypes } from "../../../domain/agent-snapshot.ts";
import { objectOf } from "../../../domain/api-types/fields.ts";
import * as t from "../../../lib/schema.ts";

export const CatalogItem = t.named(
  "CatalogEntry",
  t.object({
    object: objectOf("catalog_entry"),
    name: t.about("The entry's name in the address that adds it: `POST /v1/tools/catalog/:name`.", t.text),
    title: t.about("What people read in lists and forms.", t.text),
    description: t.about("What agents can do with its tools.", t.text),
    settings: t.about(
      "The values that the request needs to add the entry.",
      t.list(
        t.named(
          "CatalogSetting",
          t.object({
            name: t.about("The key of this value in the request's `settings`.", t.text),
            title: t.about("What people read in lists and forms.", t.text),
            description: t.about("What to write there, and where it comes from.", t.text),
            required: t.about("Whether the entry cannot be added without it.", t.boolean),
            write_only: t.about("Whether it is stored encrypted and never shown.", t.boolean),
            default: t.about("The value if none is given; null: none.", t.orNull(t.text)),
          }),
        ),
      ),
    ),
    tools: t.about(
      "The tools that it adds.",
      t.list(
        t.named(
          "CatalogTool",
          t.object({
            name: t.about("The name that the tool gets, behind the request's `prefix`.", t.text),
            type: t.about("What calls of the tool do.", t.oneOf(toolTypes)),
            description: t.about("What the tool is for; the model reads it.", t.text),
            approval: t.about("Whether a person decides before each call.", t.oneOf(["never", "always"])),
          }),
        ),
      ),
    ),
  }),
);
export type CatalogItem = Static<typeof CatalogItem>;

/** Body of `POST /v1/tools/catalog/:name`. */
export const AddFromCatalog = t.closedObject({
  settings: t.about(
    "The entry's settings, by name; `{{secret.NAME}}` in a secret one stands for a stored secret.",
    Type.Optional(
      Type.Record(Type.String({ pattern: "^[a-z_]{1,64}$" }), Type.String({ maxLength: 8192 }), {
        maxProperties: 20,
        additionalProperties: false,
      }),
    ),
  ),
  prefix: t.about(
    "Put before the names of the tools, such as `work-`.",
    Type.Optional(Type.String({ pattern: "^[A-Za-z0-9_-]{0,40}$" })),
  ),
});
export type AddFromCatalog = Static<typeof AddFromCatalog>;
