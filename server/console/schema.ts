import { Type } from "@sinclair/typebox";

const closed = { additionalProperties: false };
// Longer than any that is accepted, so that what is wrong with them is said where they are checked.
const Email = Type.String({ maxLength: 1024 });
const Password = Type.String({ maxLength: 4096 });

export const Login = Type.Object({ email: Email, password: Password }, closed);
export const SetUp = Type.Object({ token: Type.String({ maxLength: 256 }), email: Email, password: Password }, closed);
export const Logout = Type.Object({}, closed);
export const Nothing = Type.Object({}, closed);
// A person types the name, and so means this project.
export const DeleteProject = Type.Object({ name: Type.String({ maxLength: 128 }) }, closed);
