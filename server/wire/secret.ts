import type { Static } from "@sinclair/typebox";
import { resource, text, time } from "./schema.ts";

export const Secret = resource("Secret", "secret", { name: text, updated_at: time });
export type Secret = Static<typeof Secret>;
