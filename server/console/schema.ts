import { type Static, Type } from "@sinclair/typebox";
import { exact, oneOf, open, orNull } from "../lib/schema.ts";
import { concurrentMax, idleTimeouts_ms } from "../models/registry.ts";
import { roles } from "../wire/names.ts";

// Longer than any that is accepted, so that what is wrong with them is said where they are checked.
const Email = Type.String({ maxLength: 1024 });
const Password = Type.String({ maxLength: 4096 });

const CodeText = Type.String({ maxLength: 64 });
/** `code`: of an authenticator app, or one of those that let somebody in once. */
export const Login = exact({ email: Email, password: Password, code: Type.Optional(CodeText) });
export const Code = exact({ code: CodeText });
export const OwnPassword = exact({ password: Password });
/** What a browser says of a device: the library looks into it. */
const DeviceAnswer = open({ id: Type.String({ minLength: 1, maxLength: 2048 }) });
export const NewPasskey = exact({ name: Type.String({ minLength: 1, maxLength: 64 }), response: DeviceAnswer });
export const PasskeySignIn = exact({ response: DeviceAnswer });
export const SetUp = exact({ token: Type.String({ maxLength: 256 }), email: Email, password: Password });
// A person types the name, and so means this project.
export const DeleteProject = exact({ name: Type.String({ maxLength: 128 }) });

const Token = Type.String({ maxLength: 256 });
export const ConsoleId = Type.String({ pattern: "^(usr|ses|inv|bak|pky)_\\w{26}$" });
export const NewInvitation = exact({ email: Email, role: oneOf(roles) });
export const RoleChange = exact({ role: oneOf(roles) });
export const AskReset = exact({ email: Email });
export const ReadInvitation = exact({ token: Token });
export const AcceptInvitation = exact({ token: Token, password: Password });
// A place in the dashboard: a path alone, so that nothing leads elsewhere from here.
export const BeginOidc = exact({ to: Type.String({ pattern: "^/(?![/\\\\])[\\x21-\\x7e]{0,500}$" }) });
export const PasswordChange = exact({ current_password: Password, password: Password });

export const ConnectionName = Type.String({ pattern: "^[a-z0-9][a-z0-9_-]{0,63}$" });
export const NewConnection = exact({
  name: Type.String({ minLength: 1, maxLength: 64 }),
  provider: Type.Optional(Type.String({ maxLength: 64 })),
  base_url: Type.Optional(orNull(Type.String({ maxLength: 2048 }))),
  api_key: Type.Optional(orNull(Type.String({ maxLength: 4096 }))),
  max_concurrent: Type.Optional(orNull(Type.Integer({ minimum: 1, maximum: concurrentMax }))),
  idle_timeout_ms: Type.Optional(
    orNull(Type.Integer({ minimum: idleTimeouts_ms.least, maximum: idleTimeouts_ms.most })),
  ),
});
export type NewConnection = Static<typeof NewConnection>;
export const ConnectionTest = exact({ model: Type.Optional(Type.String({ maxLength: 200 })) });
const ModelId = Type.String({ minLength: 1, maxLength: 300 });
export const PricedModel = exact({ model: ModelId });
export const NewPrice = exact({
  model: ModelId,
  input: Type.Number({ minimum: 0 }),
  cached_input: Type.Number({ minimum: 0 }),
  output: Type.Number({ minimum: 0 }),
  context_window: Type.Optional(orNull(Type.Integer({ minimum: 1, maximum: 100_000_000 }))),
});
export type NewPrice = Static<typeof NewPrice>;
