import type { OAuthClient } from "../../../../server/domain/api-types/oauth.ts";
import type { CreateOAuthClient } from "../../../../server/resources/oauth/schema.ts";
import type { FieldErrors } from "../../lib/field-errors.ts";
import { wordsIn } from "../../lib/words-in.ts";

/** The fields that a form has as typed: `client_secret` is empty if the stored one stays, lists have one entry per line. */
type TextField = Exclude<keyof CreateOAuthClient, "grant" | "per_user" | "token_endpoint_auth_method" | "metadata">;

/** Form state of an OAuth client. */
export interface ClientDraft
  extends Record<TextField, string>,
    Required<Pick<CreateOAuthClient, "grant" | "per_user">> {
  /** How the server's addresses are known: from the issuer's metadata, or from the fields of the endpoints. */
  server: "issuer" | "endpoints";
  token_endpoint_auth_method: NonNullable<CreateOAuthClient["token_endpoint_auth_method"]> | "";
}

/** Form draft of a client; without one, of a new client. */
export const clientDraftOf = (client?: OAuthClient): ClientDraft => ({
  name: client?.name ?? "",
  grant: client?.grant ?? "authorization_code",
  per_user: client?.per_user ?? true,
  server: client && client.issuer === null ? "endpoints" : "issuer",
  issuer: client?.issuer ?? "",
  authorization_endpoint: client?.authorization_endpoint ?? "",
  token_endpoint: client?.token_endpoint ?? "",
  revocation_endpoint: client?.revocation_endpoint ?? "",
  client_id: client?.client_id ?? "",
  client_secret: "",
  token_endpoint_auth_method: (client?.token_endpoint_auth_method ?? "") as ClientDraft["token_endpoint_auth_method"],
  scopes: (client?.scopes ?? []).join("\n"),
  resource: client?.resource ?? "",
  audience: client?.audience ?? "",
  authorization_params: Object.entries(client?.authorization_params ?? {})
    .map((pair) => pair.join("="))
    .join("\n"),
});

/** Errors of the fields that cannot be sent. */
export function clientFaults(draft: ClientDraft, client?: OAuthClient): FieldErrors<ClientDraft> {
  const isForUsers = draft.grant === "authorization_code";
  const isEmpty = (field: "name" | "issuer" | "authorization_endpoint" | "token_endpoint" | "client_id") =>
    draft[field].trim() === "";
  const byEndpoints = draft.server === "endpoints";
  return {
    name: isEmpty("name") ? "Enter a name." : null,
    issuer: !byEndpoints && isEmpty("issuer") ? "Enter the issuer, such as https://accounts.example.com." : null,
    authorization_endpoint:
      byEndpoints && isForUsers && isEmpty("authorization_endpoint") ? "Enter the URL where users consent." : null,
    token_endpoint: byEndpoints && isEmpty("token_endpoint") ? "Enter the URL where tokens are issued." : null,
    client_id: isEmpty("client_id") ? "Enter the id that the authorization server gave." : null,
    client_secret:
      !isForUsers && draft.client_secret === "" && !client?.has_client_secret
        ? "A client that acts for itself needs its secret."
        : null,
    authorization_params: linesOf(draft.authorization_params).every((line) => /^[^=\s]+=/.test(line))
      ? null
      : "One name=value per line, such as access_type=offline.",
  };
}

const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/** Everything that can be changed later. */
function changeable(draft: ClientDraft) {
  const isForUsers = draft.grant === "authorization_code";
  const byEndpoints = draft.server === "endpoints";
  const text = (value: string) => value.trim() || null;
  return {
    name: draft.name.trim(),
    issuer: byEndpoints ? null : text(draft.issuer),
    authorization_endpoint: byEndpoints && isForUsers ? text(draft.authorization_endpoint) : null,
    token_endpoint: byEndpoints ? text(draft.token_endpoint) : null,
    revocation_endpoint: text(draft.revocation_endpoint),
    client_id: draft.client_id.trim(),
    token_endpoint_auth_method: draft.token_endpoint_auth_method || null,
    scopes: wordsIn(draft.scopes) ?? [],
    resource: text(draft.resource),
    audience: text(draft.audience),
    authorization_params: Object.fromEntries(
      linesOf(draft.authorization_params).map((line) => {
        const at = line.indexOf("=");
        return [line.slice(0, at), line.slice(at + 1)];
      }),
    ),
  };
}

const isDefault = (value: unknown): boolean => value === null || JSON.stringify(value).length === 2;

/** Body of a new client, without fields that have their default. */
export function clientCreation(draft: ClientDraft): CreateOAuthClient {
  const { name, client_id, ...others } = changeable(draft);
  return {
    name,
    grant: draft.grant,
    ...(draft.grant === "authorization_code" && draft.per_user && { per_user: true }),
    client_id,
    ...(draft.client_secret !== "" && { client_secret: draft.client_secret }),
    ...Object.fromEntries(Object.entries(others).filter(([, value]) => !isDefault(value))),
  };
}

/** Body with only the fields that differ from the client. */
export function clientChanges(draft: ClientDraft, client: OAuthClient): Record<string, unknown> {
  const before: Record<string, unknown> = changeable(clientDraftOf(client));
  const changed = Object.entries(changeable(draft)).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(before[field]),
  );
  // A public client has no secret that could be sent.
  const isPublic = draft.token_endpoint_auth_method === "none" && client.has_client_secret;
  return {
    ...Object.fromEntries(changed),
    ...(draft.client_secret !== "" ? { client_secret: draft.client_secret } : isPublic && { client_secret: null }),
  };
}

/** The same body as code shows it: the secret is in no code. */
export const withoutSecret = (body: object): object => ({
  ...body,
  ...("client_secret" in body && body.client_secret !== null && { client_secret: "the secret of the client" }),
});
