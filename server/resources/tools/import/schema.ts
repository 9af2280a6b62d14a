import { type Static, Type } from "@sinclair/typebox";
import { httpResponseTypes } from "../../../domain/agent-snapshot.ts";
import { objectOf } from "../../../domain/api-types/fields.ts";
import { envelope } from "../../../domain/api-types/schema.ts";
import { importLimits, refusalCodes, schemeTypes } from "../../../domain/openapi-import.ts";
import { idOf } from "../../../http/schemas.ts";
import * as t from "../../../lib/schema.ts";
import { addressField } from "../types/fields.ts";
import { shownMapping } from "../types/http-mapping.ts";

const differences = ["added", "changed", "unchanged", "refused"] as const;
const outcomes = ["created", "updated", "unchanged"] as const;

/** Body of `POST /v1/tools/import`. */
export const ImportTools = t.partial({
  url: t.about("The address of the document. Give this or `document`.", addressField),
  document: t.about(
    `The document: OpenAPI 3.0 or 3.1, or Swagger 2.0, in JSON or YAML, with at most ${importLimits.document_bytes} bytes.`,
    Type.String({ minLength: 1, maxLength: importLimits.document_bytes }),
  ),
  source: t.about(
    "A name for the document, by which a later import finds the tools of this one. Default: its address, or its title.",
    Type.String({ minLength: 1, maxLength: 2048 }),
  ),
  operations: t.about(
    `The operations to import: method and path, such as \`GET /pets/{id}\`, or the \`operationId\`; at most ${importLimits.tools} that change something. Default: all, or those of \`tags\`.`,
    Type.Array(Type.String({ minLength: 1, maxLength: 1100 }), { minItems: 1, maxItems: importLimits.operations }),
  ),
  tags: t.about(
    "Tags of the document whose operations are imported, in addition to `operations`.",
    Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { minItems: 1, maxItems: importLimits.operations }),
  ),
  server: t.about(
    "The address of the API. Default: the first server of the document, with the defaults of its variables.",
    addressField,
  ),
  auth: t.about(
    "The secret or the OAuth client of each of the document's security schemes, by the scheme's name.",
    t.named(
      "ToolImportAuth",
      Type.Record(
        Type.String({ pattern: "^[\\s\\S]{1,128}$" }),
        t.named(
          "ToolImportCredential",
          t.closedObject({
            secret: t.about(
              "The name of the secret. Give this or `oauth_client_id`.",
              Type.Optional(Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]{0,63}$" })),
            ),
            oauth_client_id: t.about(
              "The OAuth client whose tokens are sent, of a scheme that takes access tokens.",
              Type.Optional(idOf("oauth_client")),
            ),
          }),
        ),
        { maxProperties: 50, additionalProperties: false },
      ),
    ),
  ),
  prefix: t.about("A text before the name of each new tool.", Type.String({ pattern: "^[A-Za-z0-9_-]{0,32}$" })),
  sha256: t.about(
    "The hash that a `dry_run` answered. If the document is another one by now, nothing is imported: 409 `document_changed`.",
    Type.String({ pattern: "^[0-9a-f]{64}$" }),
  ),
  dry_run: t.about("Whether to say what the import would do, without storing anything.", Type.Boolean()),
});
export type ImportTools = Static<typeof ImportTools>;

const ImportedTool = t.named(
  "ToolImportDefinition",
  t.object({
    name: t.about("Its name; that of a tool that exists stays.", t.text),
    description: t.about("What the tool is for; the model reads it.", t.text),
    method: t.about("The HTTP method with which the tool calls the URL.", t.text),
    url: t.about("The URL that is called.", t.text),
    parameters: t.about(
      "The JSON Schema of the arguments; null where the answer has no more room.",
      t.orNull(t.anyObject),
    ),
    request: t.about(
      "How the arguments become the request; null where the answer has no more room.",
      t.orNull(shownMapping),
    ),
    response: t.about("How the model reads the response: as JSON, or as text.", t.oneOf(httpResponseTypes)),
  }),
);

const ImportedOperation = t.named(
  "ToolImportOperation",
  t.object({
    operation: t.about("The method and the path, such as `GET /pets/{id}`.", t.text),
    operation_id: t.about("The document's `operationId`; null if there is none.", t.orNull(t.text)),
    tags: t.about("The document's tags of the operation.", t.list(t.text)),
    deprecated: t.about("Whether the document says that it is deprecated.", t.boolean),
    difference: t.about(
      "How the document differs from the tool that was imported from it: `added` if there is none, `refused` if it cannot be a tool.",
      t.oneOf(differences),
    ),
    changes: t.about("Names of the fields of the tool that differ.", t.list(t.text)),
    edited: t.about("Whether somebody has changed the tool since it was imported; an update replaces that.", t.boolean),
    chosen: t.about("True if `operations` or `tags` name it, or if neither is given.", t.boolean),
    outcome: t.about(
      "What the request did, or would do with `dry_run`; null if the operation is not chosen, or refused.",
      t.orNull(t.oneOf(outcomes)),
    ),
    tool_id: t.about("The id of its tool; null if there is none yet.", t.orNull(t.text)),
    tool: t.about("What it becomes; null if it is refused.", t.orNull(ImportedTool)),
    refusal: t.about(
      "Why it cannot be a tool; null if it can.",
      t.orNull(
        t.named(
          "ToolImportRefusal",
          t.object({
            code: t.about("The reason, as a fixed word for programs.", t.oneOf(refusalCodes)),
            message: t.about("The reason in a sentence, which may change.", t.text),
          }),
        ),
      ),
    ),
    notes: t.about("What the tool does not check or send as the document says.", t.list(t.text)),
    security: t.about(
      "The alternatives of its authentication: the names of the schemes that each needs; empty if it needs none.",
      t.list(t.list(t.text)),
    ),
    auth: t.about(
      "The schemes whose secrets or tokens the tool sends; null if it needs some and none are given.",
      t.orNull(t.list(t.text)),
    ),
  }),
);

export const ToolImport = t.named(
  "ToolImport",
  t.object({
    object: objectOf("tool_import"),
    dry_run: t.about("True if the request asked only what it would do: nothing was stored.", t.boolean),
    source: t.about("The address or the name of the document.", t.text),
    sha256: t.about("SHA-256 of the document. Send it with the import that follows a `dry_run`.", t.text),
    title: t.about("What the document calls the API: its `info.title`.", t.text),
    version: t.about("The API's own version: the document's `info.version`.", t.text),
    openapi: t.about("The format of the document, such as `3.1.0`; `2.0` is Swagger.", t.text),
    server: t.about("The address of the API; null if the document says none and none is given.", t.orNull(t.text)),
    servers: t.about(
      "The servers that the document names.",
      t.list(
        t.named(
          "ToolImportServer",
          t.object({
            url: t.about("Its address, with the names of variables in braces.", t.text),
            description: t.about("What the document says about it.", t.text),
            variables: t.about(
              "The variables of its address.",
              t.list(
                t.named(
                  "ToolImportServerVariable",
                  t.object({
                    name: t.about("The word in braces in the server's `url`.", t.text),
                    default: t.about("The value that is used if no `server` is given.", t.text),
                    enum: t.about("The values that it may have; empty: any.", t.list(t.text)),
                    description: t.about("What the document says about it.", t.text),
                  }),
                ),
              ),
            ),
          }),
        ),
      ),
    ),
    security_schemes: t.about(
      "How the API knows its callers.",
      t.list(
        t.named(
          "ToolImportScheme",
          t.object({
            name: t.about("The scheme's key in the document, and in the request's `auth`.", t.text),
            type: t.about(
              "How callers prove who they are: a token, a password, a key or OAuth; `other`: not supported.",
              t.oneOf(schemeTypes),
            ),
            in: t.about(
              "Where the key is sent, of `api_key`; else null.",
              t.orNull(t.oneOf(["header", "query", "cookie"])),
            ),
            parameter: t.about("The name under which the key is sent, of `api_key`; else null.", t.orNull(t.text)),
            description: t.about("What the document says about it.", t.text),
            secret: t.about("The secret that is given for it; null if there is none.", t.orNull(t.text)),
            oauth_client_id: t.about("The OAuth client that is given for it; null if there is none.", t.orNull(t.text)),
            takes_oauth_client: t.about("Whether it takes access tokens, which an OAuth client can get.", t.boolean),
            secret_holds: t.about(
              "What the secret has to hold; null if the scheme is not supported.",
              t.orNull(t.text),
            ),
            suggested_secret: t.about("A free name under which you could store the secret.", t.text),
          }),
        ),
      ),
    ),
    operations: t.about("Every operation of the document, with what becomes of it.", t.list(ImportedOperation)),
    removed: t.about(
      "Tools of this source whose operations the document no longer has. They stay.",
      t.list(
        t.named(
          "ToolImportRemoved",
          t.object({
            tool_id: t.about("The tool, which is kept: `tool_…`. Delete it if nothing uses it.", t.text),
            name: t.about("The name by which the model still calls the tool.", t.text),
            operation: t.about("The method and the path that the document had, such as `GET /pets/{id}`.", t.text),
          }),
        ),
      ),
    ),
    counts: t.about(
      "How many operations there are of each kind.",
      t.named(
        "ToolImportCounts",
        t.object({
          operations: t.about("All that the document has.", t.integer),
          added: t.about("Operations that have no tool yet.", t.integer),
          changed: t.about("Operations whose tool differs from the document.", t.integer),
          unchanged: t.about("Operations whose tool is as the document says.", t.integer),
          refused: t.about("Operations that no tool can call, each with its `refusal`.", t.integer),
          removed: t.about("Tools whose operations the document no longer has.", t.integer),
          created: t.about("New tools that the request made, or would make with `dry_run`.", t.integer),
          updated: t.about("Tools that the request changed, or would change with `dry_run`.", t.integer),
        }),
      ),
    ),
    ...envelope,
  }),
);
export type ToolImport = Static<typeof ToolImport>;
export type ImportedOperation = Static<typeof ImportedOperation>;
