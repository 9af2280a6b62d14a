import { type Static, Type } from "@sinclair/typebox";
import { chatAccesses } from "../../domain/chat-page.ts";
import { limits } from "../../domain/limits.ts";
import { Budget, versionChoice } from "../../http/schemas.ts";
import { about, closedObject, named, oneOf, orNull, partial } from "../../lib/schema.ts";

const ChatLimitsInput = named(
  "ChatLimitsInput",
  partial({
    runs_per_minute: about("Runs that may be started within a minute.", Type.Integer({ minimum: 1, maximum: 10_000 })),
    runs_per_day: about("Runs that may be started within 24 hours.", Type.Integer({ minimum: 1, maximum: 100_000 })),
  }),
);

/** Body of `PUT /v1/agents/:id/chat_page`: the page's complete settings, except its link. */
export const PutChatPage = closedObject({
  access: about(
    "Who may talk there: visitors with the link, or `members`, who are signed in at the dashboard and may run agents.",
    oneOf(chatAccesses),
  ),
  title: about(
    "What stands above the chat; null: nothing. Default: null.",
    Type.Optional(orNull(Type.String({ minLength: 1, maxLength: limits.name_length }))),
  ),
  limits: about(
    "How many runs all visitors together may start. Default: 60 a minute, 1000 a day.",
    Type.Optional(ChatLimitsInput),
  ),
  visitor_limits: about(
    "How many runs one visitor may start. Default: 6 a minute, 100 a day.",
    Type.Optional(ChatLimitsInput),
  ),
  budget: about(
    "What each run that is started there may spend at most; null: what the agent may. Default: null.",
    Type.Optional(orNull(Budget)),
  ),
  label: about(
    "A label of the agent, read at each run; null: the newest version. Default: null.",
    Type.Optional(orNull(versionChoice.label)),
  ),
  files: about("Whether people may add images and documents. Default: false.", Type.Optional(Type.Boolean())),
});
export type PutChatPage = Static<typeof PutChatPage>;
