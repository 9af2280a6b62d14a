import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { erasureStatuses } from "./enums.ts";
import { resource } from "./schema.ts";

/** Numbers of things that an erasure has deleted so far, by kind. */
const Erased = t.named(
  "ErasedCounts",
  t.object({
    runs: t.integer,
    threads: t.integer,
    memory_entries: t.integer,
    memory_keys: t.integer,
    files: t.integer,
    schedules: t.integer,
  }),
);

/** A request to delete everything of one user. */
export const Erasure = resource("Erasure", "erasure", {
  status: t.oneOf(erasureStatuses),
  user_id: t.orNull(t.text),
  deleted: Erased,
  completed_at: t.orNull(t.time),
});
export type Erasure = Static<typeof Erasure>;
export type Erased = Erasure["deleted"];
