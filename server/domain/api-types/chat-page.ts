import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { chatAccesses } from "../chat-page.ts";
import { Budget } from "./agent.ts";
import { AgentId, CreatedAt, Environment, ProjectId, UpdatedAt } from "./fields.ts";
import { envelope } from "./schema.ts";

const ChatLimits = t.named(
  "ChatLimits",
  t.object({
    runs_per_minute: t.about("Runs that may be started within a minute.", t.integer),
    runs_per_day: t.about("Runs that may be started within 24 hours.", t.integer),
  }),
);

export const ChatPage = t.named(
  "ChatPage",
  t.object({
    object: t.about("Always `chat_page`.", t.word("chat_page")),
    agent_id: AgentId,
    access: t.about(
      "Who may talk there: visitors with the link, or `members`, who are signed in at the dashboard and may run agents.",
      t.oneOf(chatAccesses),
    ),
    url: t.about("Where the page is. With `link`, what stands behind the `#` lets people in.", t.text),
    title: t.about("What stands above the chat; null: nothing.", t.orNull(t.text)),
    limits: t.about("How many runs all visitors together may start.", ChatLimits),
    visitor_limits: t.about("How many runs one visitor may start.", ChatLimits),
    budget: t.about(
      "What each run that is started there may spend at most; null: what the agent may.",
      t.orNull(Budget),
    ),
    label: t.about(
      "The label of the agent that chooses the version at each run; null: the newest version.",
      t.orNull(t.text),
    ),
    files: t.about("Whether people may add images and documents.", t.boolean),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
    project_id: ProjectId,
    environment: Environment,
    ...envelope,
  }),
);
export type ChatPage = Static<typeof ChatPage>;
