import { type Static, Type } from "@sinclair/typebox";
import { chatAccesses } from "../core/chat-page.ts";
import { limits } from "../core/limits.ts";
import { Budget } from "../http/schemas.ts";
import { exact, named, oneOf, orNull, partial } from "../lib/schema.ts";

const ChatLimitsInput = named(
  "ChatLimitsInput",
  partial({
    runs_per_minute: Type.Integer({ minimum: 1, maximum: 10_000 }),
    runs_per_day: Type.Integer({ minimum: 1, maximum: 100_000 }),
  }),
);

/** Body of `PUT /v1/agents/:id/chat_page`: all of what the page is, beside its link. */
export const PutChatPage = exact({
  access: oneOf(chatAccesses),
  title: Type.Optional(orNull(Type.String({ minLength: 1, maxLength: limits.name_length }))),
  limits: Type.Optional(ChatLimitsInput),
  visitor_limits: Type.Optional(ChatLimitsInput),
  budget: Type.Optional(orNull(Budget)),
  files: Type.Optional(Type.Boolean()),
});
export type PutChatPage = Static<typeof PutChatPage>;
