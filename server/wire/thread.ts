import type { Static } from "@sinclair/typebox";
import { threadStatuses } from "./names.ts";
import { message } from "./run.ts";
import { integer, named, object, oneOf, orNull, resource, text, time } from "./schema.ts";

export const Thread = resource("Thread", "thread", {
  title: orNull(text),
  user_id: orNull(text),
  session_id: orNull(text),
  status: oneOf(threadStatuses),
  message_count: integer,
  last_run_id: orNull(text),
  updated_at: time,
});
export type Thread = Static<typeof Thread>;

export const ThreadMessage = named("ThreadMessage", object({ ...message, run_id: orNull(text) }));
export type ThreadMessage = Static<typeof ThreadMessage>;
