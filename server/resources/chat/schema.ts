import { type Static, Type } from "@sinclair/typebox";
import { chatAccesses } from "../../domain/chat-page.ts";
import { limits } from "../../domain/limits.ts";
import { Budget } from "../../http/schemas.ts";
import { closedObject, named, oneOf, orNull, partial } from "../../lib/schema.ts";

const ChatLimitsInput = named(
  "ChatLimitsInput",
  partial({
    runs_per_minute: Type.Integer({ minimum: 1, maximum: 10_000 }),
    runs_per_day: Type.Integer({ minimum: 1, maximum: 100_000 }),
  }),
);

/** Body of `PUT /v1/agents/:id/chat_page`: the page's complete settings, except its link. */
export const PutChatPage = closedObject({
  access: oneOf(chatAccesses),
  title: Type.Optional(orNull(Type.String({ minLength: 1, maxLength: limits.name_length }))),
  limits: Type.Optional(ChatLimitsInput),
  visitor_limits: Type.Optional(ChatLimitsInput),
  budget: Type.Optional(orNull(Budget)),
  files: Type.Optional(Type.Boolean()),
});
export type PutChatPage = Static<typeof PutChatPage>;
