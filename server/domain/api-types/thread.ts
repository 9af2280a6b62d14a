import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { threadStatuses } from "./enums.ts";
import { message } from "./run.ts";
import { envelope, resource } from "./schema.ts";

export const Thread = resource("Thread", "thread", {
  title: t.orNull(t.text),
  user_id: t.orNull(t.text),
  session_id: t.orNull(t.text),
  status: t.oneOf(threadStatuses),
  message_count: t.integer,
  last_run_id: t.orNull(t.text),
  updated_at: t.time,
});
export type Thread = Static<typeof Thread>;

const MessageFile = t.named("MessageFile", t.object({ file_id: t.text, filename: t.text, mime_type: t.text }));

export const ThreadMessage = t.named(
  "ThreadMessage",
  t.object({ ...message, files: t.optional(t.list(MessageFile)), run_id: t.orNull(t.text), ...envelope }),
);
export type ThreadMessage = Static<typeof ThreadMessage>;
