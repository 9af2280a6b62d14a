import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { erasureStatuses } from "./enums.ts";
import { resource } from "./schema.ts";

/** Numbers of things that an erasure has deleted so far, by kind. */
const Erased = t.named(
  "ErasedCounts",
  t.object({
    runs: t.about("Runs, with their traces, messages and deliveries to webhooks.", t.integer),
    threads: t.about("Conversations, with the names that clients gave them.", t.integer),
    memory_entries: t.about("Texts and files in stores of scope `user`, and of the user's sessions.", t.integer),
    memory_keys: t.about("Keys in such stores.", t.integer),
    files: t.about("What tools made in the runs, and documents that no other user's runs were given.", t.integer),
    schedules: t.about("Schedules whose runs were for the user.", t.integer),
    oauth_grants: t.about("OAuth grants, whose tokens are revoked.", t.integer),
  }),
);

/** A request to delete everything of one user. */
export const Erasure = resource("Erasure", "erasure", {
  status: t.about("Whether it is still in progress.", t.oneOf(erasureStatuses)),
  user_id: t.about(
    "The user whose data is erased; null once it is done, so that nothing identifies the user.",
    t.orNull(t.text),
  ),
  deleted: t.about("How many of each kind were deleted.", Erased),
  completed_at: t.about("When it was completed; null while it is in progress.", t.orNull(t.time)),
});
export type Erasure = Static<typeof Erasure>;
export type Erased = Erasure["deleted"];
