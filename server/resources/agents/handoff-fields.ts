import { type Static, Type } from "@sinclair/typebox";
import { type AgentHandoff, handoffFilters } from "../../domain/agent-snapshot.ts";
import { limits } from "../../domain/limits.ts";
import { AgentReference, changeableChoice } from "../../http/schemas.ts";
import * as t from "../../lib/schema.ts";

const AgentName = t.about(
  "The agent that goes on with the conversation: its id, or its name, also as `name@label` or `name@version`.",
  AgentReference,
);

/** A handoff as clients give it: the name of an agent, or an object with more settings. */
export const HandoffInput = Type.Union([
  AgentName,
  t.named(
    "HandoffInput",
    t.partly(
      { agent_id: AgentName },
      {
        ...changeableChoice,
        description: t.about(
          "Tells the model when to hand over; default: the other agent's description.",
          Type.String({ minLength: 1, maxLength: 1024 }),
        ),
        filter: t.about(
          "What goes along: `all` of the conversation, only what the user said last (`last_message`), everything without tool calls and their results (`no_tool_calls`), or the newest messages (`{messages: 20}`); default: `all`.",
          Type.Union([
            t.oneOf(handoffFilters),
            t.closedObject({
              messages: t.about(
                "How many of the newest messages go along.",
                Type.Integer({ minimum: 1, maximum: limits.input_messages }),
              ),
            }),
          ]),
        ),
      },
    ),
  ),
]);

export type GivenHandoff = Static<typeof HandoffInput>;

/** Fills in the defaults of a handoff. */
export function completeHandoff(given: GivenHandoff): AgentHandoff {
  const {
    agent_id,
    version,
    label,
    description,
    filter = "all",
  }: Exclude<GivenHandoff, string> = typeof given === "string" ? { agent_id: given } : given;
  return {
    agent_id,
    ...(version != null && { version }),
    ...(label != null && { label }),
    ...(description !== undefined && { description }),
    filter,
  };
}
