import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { chatAccesses } from "../chat-page.ts";
import { environments } from "../scope.ts";
import { Budget } from "./agent.ts";
import { envelope } from "./schema.ts";

const ChatLimits = t.named("ChatLimits", t.object({ runs_per_minute: t.integer, runs_per_day: t.integer }));

export const ChatPage = t.named(
  "ChatPage",
  t.object({
    object: t.word("chat_page"),
    agent_id: t.text,
    access: t.oneOf(chatAccesses),
    url: t.text,
    title: t.orNull(t.text),
    limits: ChatLimits,
    visitor_limits: ChatLimits,
    budget: t.orNull(Budget),
    files: t.boolean,
    created_at: t.time,
    updated_at: t.time,
    project_id: t.text,
    environment: t.oneOf(environments),
    ...envelope,
  }),
);
export type ChatPage = Static<typeof ChatPage>;
