import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { resource } from "./schema.ts";

export const Secret = resource("Secret", "secret", { name: t.text, updated_at: t.time });
export type Secret = Static<typeof Secret>;
