import { type Static, Type } from "@sinclair/typebox";
import { roles } from "../domain/api-types/enums.ts";
import { connectionGrantTypes, tokenAuthMethods } from "../domain/connection-auth.ts";
import { featureChecks } from "../domain/connection-check.ts";
import { closedObject, oneOf, open, orNull, partly } from "../lib/schema.ts";
import { concurrentMax, fallbacksMax, idleTimeouts_ms } from "../runtime/models/registry.ts";

// Limits above those of the later checks, whose errors are more precise.
const Email = Type.String({ maxLength: 1024 });
const Password = Type.String({ maxLength: 4096 });

const CodeText = Type.String({ maxLength: 64 });
/** `code`: of an authenticator app, or a recovery code. */
export const Login = closedObject({ email: Email, password: Password, code: Type.Optional(CodeText) });
export const Code = closedObject({ code: CodeText });
export const OwnPassword = closedObject({ password: Password });
/** A device's response, parsed by the WebAuthn library. */
const DeviceAnswer = open({ id: Type.String({ minLength: 1, maxLength: 2048 }) });
export const NewPasskey = closedObject({ name: Type.String({ minLength: 1, maxLength: 64 }), response: DeviceAnswer });
export const PasskeySignIn = closedObject({ response: DeviceAnswer });
export const SetUp = closedObject({ token: Type.String({ maxLength: 256 }), email: Email, password: Password });
// The typed name confirms the project.
export const DeleteProject = closedObject({ name: Type.String({ maxLength: 128 }) });

const Token = Type.String({ maxLength: 256 });
export const ConsoleId = Type.String({ pattern: "^(usr|ses|inv|bak|pky)_\\w{26}$" });
export const NewInvitation = closedObject({ email: Email, role: oneOf(roles) });
export const RoleChange = closedObject({ role: oneOf(roles) });
export const AskReset = closedObject({ email: Email });
export const ReadInvitation = closedObject({ token: Token });
export const AcceptInvitation = closedObject({ token: Token, password: Password });
// A path in the dashboard, never another origin, which prevents open redirects.
export const BeginOidc = closedObject({ to: Type.String({ pattern: "^/(?![/\\\\])[\\x21-\\x7e]{0,500}$" }) });
export const PasswordChange = closedObject({ current_password: Password, password: Password });

export const ConnectionName = Type.String({ pattern: "^[a-z0-9][a-z0-9_-]{0,63}$" });
const Address = Type.String({ maxLength: 2048 });
/** OAuth in place of a key. A secret that is absent stays. */
const ConnectionAuth = partly(
  { type: oneOf(["oauth"]), client_id: Type.String({ minLength: 1, maxLength: 2048, pattern: "^[\\x20-\\x7e]+$" }) },
  {
    grant: oneOf(connectionGrantTypes),
    client_secret: orNull(Type.String({ maxLength: 8192 })),
    issuer: orNull(Address),
    authorization_endpoint: orNull(Address),
    token_endpoint: orNull(Address),
    revocation_endpoint: orNull(Address),
    token_endpoint_auth_method: orNull(oneOf(tokenAuthMethods)),
    scopes: orNull(
      Type.Array(Type.String({ minLength: 1, maxLength: 256, pattern: "^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$" }), {
        maxItems: 100,
      }),
    ),
    audience: orNull(Address),
    resource: orNull(Address),
  },
);
export const NewConnection = closedObject({
  name: Type.String({ minLength: 1, maxLength: 64 }),
  provider: Type.Optional(Type.String({ maxLength: 64 })),
  base_url: Type.Optional(orNull(Type.String({ maxLength: 2048 }))),
  api_key: Type.Optional(orNull(Type.String({ maxLength: 4096 }))),
  region: Type.Optional(orNull(Type.String({ maxLength: 64 }))),
  access_key_id: Type.Optional(orNull(Type.String({ maxLength: 256 }))),
  secret_access_key: Type.Optional(orNull(Type.String({ maxLength: 256 }))),
  session_token: Type.Optional(orNull(Type.String({ maxLength: 8192 }))),
  project: Type.Optional(orNull(Type.String({ maxLength: 128 }))),
  location: Type.Optional(orNull(Type.String({ maxLength: 64 }))),
  service_account: Type.Optional(orNull(Type.String({ maxLength: 16_384 }))),
  auth: Type.Optional(orNull(ConnectionAuth)),
  max_concurrent: Type.Optional(orNull(Type.Integer({ minimum: 1, maximum: concurrentMax }))),
  idle_timeout_ms: Type.Optional(
    orNull(Type.Integer({ minimum: idleTimeouts_ms.least, maximum: idleTimeouts_ms.most })),
  ),
  fallbacks: Type.Optional(orNull(Type.Array(Type.String({ maxLength: 300 }), { maxItems: fallbacksMax }))),
});
export type NewConnection = Static<typeof NewConnection>;
export const ChangedConnection = closedObject({
  base_url: NewConnection.properties.base_url,
  api_key: NewConnection.properties.api_key,
  region: NewConnection.properties.region,
  access_key_id: NewConnection.properties.access_key_id,
  secret_access_key: NewConnection.properties.secret_access_key,
  session_token: NewConnection.properties.session_token,
  project: NewConnection.properties.project,
  location: NewConnection.properties.location,
  service_account: NewConnection.properties.service_account,
  auth: NewConnection.properties.auth,
  max_concurrent: NewConnection.properties.max_concurrent,
  idle_timeout_ms: NewConnection.properties.idle_timeout_ms,
  fallbacks: NewConnection.properties.fallbacks,
  expected_version: Type.Optional(Type.Integer({ minimum: 1 })),
});
export type ChangedConnection = Static<typeof ChangedConnection>;
export const ConnectionTest = closedObject({
  model: Type.Optional(Type.String({ maxLength: 200 })),
  checks: Type.Optional(Type.Array(oneOf(featureChecks), { maxItems: featureChecks.length })),
});
export type ConnectionTest = Static<typeof ConnectionTest>;
const ModelId = Type.String({ minLength: 1, maxLength: 300 });
export const PricedModel = closedObject({ model: ModelId });
export const NewPrice = closedObject({
  model: ModelId,
  input: Type.Number({ minimum: 0 }),
  cached_input: Type.Number({ minimum: 0 }),
  output: Type.Number({ minimum: 0 }),
  context_window: Type.Optional(orNull(Type.Integer({ minimum: 1, maximum: 100_000_000 }))),
});
/** A table with the name of its file, or the address to fetch it from. */
export const NewPriceTable = closedObject({
  url: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  table: Type.Optional(Type.Unknown()),
});
export type NewPriceTable = Static<typeof NewPriceTable>;
export type NewPrice = Static<typeof NewPrice>;
