import { type Static, Type } from "@sinclair/typebox";
import { oneOf, orNull } from "../lib/schema.ts";
import { concurrentMax } from "../models/registry.ts";
import { roles } from "../wire/names.ts";

const closed = { additionalProperties: false };
// Longer than any that is accepted, so that what is wrong with them is said where they are checked.
const Email = Type.String({ maxLength: 1024 });
const Password = Type.String({ maxLength: 4096 });

const CodeText = Type.String({ maxLength: 64 });
/** `code`: of an authenticator app, or one of those that let somebody in once. */
export const Login = Type.Object({ email: Email, password: Password, code: Type.Optional(CodeText) }, closed);
export const Code = Type.Object({ code: CodeText }, closed);
export const OwnPassword = Type.Object({ password: Password }, closed);
/** What a browser says of a device: the library looks into it. */
const DeviceAnswer = Type.Object(
  { id: Type.String({ minLength: 1, maxLength: 2048 }) },
  { additionalProperties: true },
);
export const NewPasskey = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 64 }), response: DeviceAnswer },
  closed,
);
export const PasskeySignIn = Type.Object({ response: DeviceAnswer }, closed);
export const SetUp = Type.Object({ token: Type.String({ maxLength: 256 }), email: Email, password: Password }, closed);
export const Logout = Type.Object({}, closed);
export const Nothing = Type.Object({}, closed);
// A person types the name, and so means this project.
export const DeleteProject = Type.Object({ name: Type.String({ maxLength: 128 }) }, closed);

const Token = Type.String({ maxLength: 256 });
export const ConsoleId = Type.String({ pattern: "^(usr|ses|inv|bak|pky)_\\w{26}$" });
export const NewInvitation = Type.Object({ email: Email, role: oneOf(roles) }, closed);
export const RoleChange = Type.Object({ role: oneOf(roles) }, closed);
export const AskReset = Type.Object({ email: Email }, closed);
export const ReadInvitation = Type.Object({ token: Token }, closed);
export const AcceptInvitation = Type.Object({ token: Token, password: Password }, closed);
// A place in the dashboard: a path alone, so that nothing leads elsewhere from here.
export const BeginOidc = Type.Object({ to: Type.String({ pattern: "^/(?![/\\\\])[\\x21-\\x7e]{0,500}$" }) }, closed);
export const PasswordChange = Type.Object({ current_password: Password, password: Password }, closed);

export const ConnectionName = Type.String({ pattern: "^[a-z0-9][a-z0-9_-]{0,63}$" });
export const NewConnection = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 64 }),
    provider: Type.Optional(Type.String({ maxLength: 64 })),
    base_url: Type.Optional(orNull(Type.String({ maxLength: 2048 }))),
    api_key: Type.Optional(orNull(Type.String({ maxLength: 4096 }))),
    max_concurrent: Type.Optional(orNull(Type.Integer({ minimum: 1, maximum: concurrentMax }))),
  },
  closed,
);
export type NewConnection = Static<typeof NewConnection>;
export const ConnectionTest = Type.Object({ model: Type.Optional(Type.String({ maxLength: 200 })) }, closed);
const ModelId = Type.String({ minLength: 1, maxLength: 300 });
export const PricedModel = Type.Object({ model: ModelId }, closed);
export const NewPrice = Type.Object(
  {
    model: ModelId,
    input: Type.Number({ minimum: 0 }),
    cached_input: Type.Number({ minimum: 0 }),
    output: Type.Number({ minimum: 0 }),
    context_window: Type.Optional(orNull(Type.Integer({ minimum: 1, maximum: 100_000_000 }))),
  },
  closed,
);
export type NewPrice = Static<typeof NewPrice>;
