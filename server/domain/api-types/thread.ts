import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import type { VariableValues } from "../variable.ts";
import { VariableValue } from "./agent.ts";
import { threadStatuses } from "./enums.ts";
import { UpdatedAt } from "./fields.ts";
import { MessageFile, message } from "./run.ts";
import { envelope, resource } from "./schema.ts";

export const Thread = resource("Thread", "thread", {
  title: t.about("A heading for people, in lists and in the dashboard; null: none.", t.orNull(t.text)),
  user_id: t.about(
    "Whom it is for, by the id that your application gives the user; null: nobody in particular.",
    t.orNull(t.text),
  ),
  session_id: t.about("The session that it is part of, by a name of your own; null: none.", t.orNull(t.text)),
  variables: t.about(
    "Values of variables for its runs; absent: none, or the reader has a client token.",
    t.optional(t.withType<VariableValues>(t.map(VariableValue))),
  ),
  status: t.about(
    "`idle`; `busy` while a run of it works; `waiting` while a run of it waits for an answer.",
    t.oneOf(threadStatuses),
  ),
  message_count: t.about("How many messages it has.", t.integer),
  last_run_id: t.about("Its newest run; null where it has none.", t.orNull(t.text)),
  last_agent_id: t.about(
    "The agent that answered last: after a handoff the one that went on. Name it in the next run to continue with it; null where no run has ended.",
    t.orNull(t.text),
  ),
  updated_at: UpdatedAt,
});
export type Thread = Static<typeof Thread>;

export const ThreadMessage = t.named(
  "ThreadMessage",
  t.object({
    ...message,
    files: t.about("The documents that came with it; absent where none did.", t.optional(t.list(MessageFile))),
    run_id: t.about("The run in which it was said; null where it was said elsewhere.", t.orNull(t.text)),
    ...envelope,
  }),
);
export type ThreadMessage = Static<typeof ThreadMessage>;
