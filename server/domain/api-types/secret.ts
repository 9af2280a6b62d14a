import type { Static } from "@sinclair/typebox";
import { Name, UpdatedAt } from "./fields.ts";
import { resource } from "./schema.ts";

export const Secret = resource("Secret", "secret", { name: Name, updated_at: UpdatedAt });
export type Secret = Static<typeof Secret>;
