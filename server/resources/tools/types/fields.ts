import { Type } from "@sinclair/typebox";
import { noSuch } from "../../../domain/error-messages.ts";
import type { Fault } from "../../../domain/errors.ts";
import type { JsonSchema } from "../../../domain/model-call.ts";
import { fault } from "../../../http/errors.ts";
import { idOf } from "../../../http/schemas.ts";
import { checkSchema } from "../../../lib/json-schema.ts";
import { about, closedObject, named, object, orNull, text, word } from "../../../lib/schema.ts";
import type { Known, ToolInput } from "./tool-kind.ts";

// Fields that several types have.

export const addressField = Type.String({ minLength: 1, maxLength: 2048 });

export const headersField = about(
  "Headers of every call; `{{secret.NAME}}` in a value stands for a secret.",
  named(
    "ToolHeaders",
    Type.Record(Type.String({ pattern: "^[\\s\\S]{1,256}$" }), Type.String({ maxLength: 8192 }), {
      maxProperties: 50,
      additionalProperties: false,
    }),
  ),
);

/** Authorization of every call by the token of an OAuth client. */
export const authField = about(
  "The OAuth client whose token authorizes every call; null: none. For an MCP server, `oauth_client_id` may be left out: its client is discovered and registered.",
  orNull(
    named(
      "ToolAuthInput",
      closedObject({
        type: about("Always `oauth`: the call carries an access token.", Type.Literal("oauth")),
        oauth_client_id: about(
          "Id of the OAuth client whose token is sent: `oac_…`.",
          Type.Optional(idOf("oauth_client")),
        ),
        per_user: about(
          "Whether each user of an MCP server's discovered client has an own grant. Default: the project has one.",
          Type.Optional(Type.Boolean()),
        ),
        scopes: about(
          "The scopes of a discovered client. Default: those that the MCP server names.",
          Type.Optional(
            Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 100, uniqueItems: true }),
          ),
        ),
      }),
    ),
  ),
);
export const authResponse = orNull(
  named(
    "ToolAuth",
    object({
      type: about("Always `oauth`: the call carries an access token.", word("oauth")),
      oauth_client_id: about("Id of the OAuth client whose token is sent: `oac_…`.", text),
    }),
  ),
);

/** Faults of a tool's authorization; `isDiscovered`: its client may be left out. */
export function authFaults(
  { auth, headers }: ToolInput,
  before: Calls | null,
  known: Known,
  isDiscovered: boolean,
): Fault[] {
  const faults: Fault[] = [];
  const id = auth?.oauth_client_id;
  if (auth && id === undefined && !isDiscovered)
    faults.push(fault("auth.oauth_client_id", "Only an MCP server's client is discovered: name one.", "required"));
  if (id !== undefined && !known.hasOAuthClient(id)) faults.push(fault("auth.oauth_client_id", noSuch("OAuth client")));
  for (const name of ["per_user", "scopes"] as const)
    if (auth?.[name] !== undefined && (id !== undefined || !isDiscovered))
      faults.push(fault(`auth.${name}`, "Only a discovered client has this: change the OAuth client."));
  const hasToken = auth === undefined ? before?.oauth_client_id !== undefined : auth !== null;
  const names = headers ? Object.keys(headers) : (before?.header_names ?? []);
  if (hasToken && names.some((name) => name.toLowerCase() === "authorization"))
    faults.push(fault(headers ? "headers.Authorization" : "auth", "The OAuth client's token is sent in this header."));
  return faults;
}

type Calls = { oauth_client_id?: string; header_names: readonly string[] };

/** Applies the authorization of an input to an earlier one. */
export function changedAuth({ auth }: ToolInput, before: Pick<Calls, "oauth_client_id"> | null | undefined) {
  const id = auth === undefined ? before?.oauth_client_id : auth?.oauth_client_id;
  return id === undefined ? {} : { oauth_client_id: id };
}

export const showAuth = ({ oauth_client_id }: Pick<Calls, "oauth_client_id">) =>
  oauth_client_id === undefined ? null : { type: "oauth" as const, oauth_client_id };

export const timeoutField = about(
  "How long an attempt may take, in milliseconds.",
  Type.Integer({ minimum: 100, maximum: 600_000 }),
);

export const usualTimeout_ms = 30_000;

/** For requests; types with shorter timeouts have their own bounds. */
export const timeoutFaults = ({ timeout_ms }: ToolInput): Fault[] =>
  timeout_ms !== undefined && timeout_ms < 1000 ? [fault("timeout_ms", "Must be at least 1000.")] : [];

/** Faults of a tool's parameter schema. */
export const parameterFaults = ({ parameters }: ToolInput): Fault[] => schemaFaults(parameters, "parameters");

/**
 * Faults of a schema in this parameter. Patterns that cannot be run safely are none, because generators of schemas write
 * them for usual types such as e-mail addresses: the model reads them, and nothing checks them.
 */
export function schemaFaults(parameters: JsonSchema | undefined, param: string): Fault[] {
  if (!parameters) return [];
  const faults = checkSchema(parameters, { patterns: "unchecked" }).map((message) => fault(param, `${message}.`));
  if (parameters.type !== undefined && parameters.type !== "object")
    faults.push(fault(`${param}.type`, 'Arguments are an object: this must be "object", or left out.'));
  return faults;
}

/** Fault of an address that contains a secret. */
export const secretInAddress = (field: string): Fault =>
  fault(field, "Put secrets into headers: URLs are shown to everyone who can read tools.");

/** Mask of a header's value. Sent back, it keeps the stored value. */
export const mask = "********";

export const masked = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, mask]));

/** Schema with a single text parameter. */
export const textParameter = (name: string, description: string): JsonSchema => ({
  type: "object",
  properties: { [name]: { type: "string", description } },
  required: [name],
  additionalProperties: false,
});
