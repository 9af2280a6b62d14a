import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { UpdatedAt } from "./fields.ts";
import { resource } from "./schema.ts";

export const Secret = resource("Secret", "secret", {
  name: t.about("The name by which tools use the value: `{{secret.NAME}}`. It never changes.", t.text),
  updated_at: UpdatedAt,
});
export type Secret = Static<typeof Secret>;
