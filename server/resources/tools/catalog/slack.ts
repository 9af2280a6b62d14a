import type { CreateTool } from "../schema.ts";
import type { CatalogEntry } from "./catalog-entry.ts";

const channel = { type: "string", maxLength: 80, description: "The channel's id, such as C0123456789." };
const limit = { type: "integer", minimum: 1, maximum: 200, description: "How many at most. Default: 100." };
const cursor = { type: "string", maxLength: 1000, description: "next_cursor of the call before." };
const messageFields = ["messages.user", "messages.bot_id", "messages.text", "messages.ts", "messages.thread_ts"];
const endFields = ["ok", "error", "has_more", "response_metadata.next_cursor"];

// Slack answers refusals with status 200 and `ok: false`.
const failures: CreateTool["failures"] = [
  { field: "ok", equals: false },
  { field: "error", equals: "ratelimited", repeat: true },
  ...Object.entries({
    not_in_channel: "The bot is not in the channel. A member of the channel has to invite it.",
    channel_not_found: "There is no such channel, or it is private and the bot is not in it.",
    is_archived: "The channel is archived.",
    missing_scope: "The bot lacks the scope in `needed`. Its owner must add it and install the app again.",
    invalid_auth: "Slack does not accept the bot's token. Its owner must set another one.",
    token_revoked: "The bot's token was revoked. Its owner must set another one.",
    account_inactive: "The bot was removed from the workspace. Its owner must install the app again.",
  }).map(([equals, hint]) => ({ field: "error", equals, hint })),
];

/** https://docs.slack.dev/reference/methods */
export const entry: CatalogEntry = {
  title: "Slack",
  description: "Reads channels and threads, and posts messages. A person approves each message.",
  settings: {
    token: {
      title: "Bot token",
      description: "xoxb-…, with the scopes channels:read, channels:history, users:read and chat:write.",
      required: true,
      secret: true,
    },
  },
  tools: ({ token = "" }) => {
    const base = (name: string, description: string, method: string): CreateTool => ({
      name,
      type: "http",
      description,
      url: `https://slack.com/api/${method}`,
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json; charset=utf-8" },
      failures,
    });
    const reading = (
      name: string,
      description: string,
      method: string,
      properties: Record<string, object>,
      required: string[],
      output_fields: string[],
    ): CreateTool => ({
      ...base(name, description, method),
      headers: { Authorization: `Bearer ${token}` },
      method: "GET",
      parameters: { type: "object", properties, required, additionalProperties: false },
      output_fields: [...endFields, ...output_fields],
      retries: 2,
    });
    return [
      reading(
        "slack_list_channels",
        "Lists public channels.",
        "conversations.list?exclude_archived=true",
        { limit, cursor },
        [],
        ["channels.id", "channels.name", "channels.is_member", "channels.topic.value", "channels.num_members"],
      ),
      reading(
        "slack_read_channel",
        "Reads the newest messages of a channel that the bot is a member of.",
        "conversations.history",
        { channel, limit, cursor },
        ["channel"],
        messageFields,
      ),
      reading(
        "slack_read_thread",
        "Reads the messages of a thread.",
        "conversations.replies",
        { channel, ts: { type: "string", maxLength: 40, description: "thread_ts of the thread." }, limit, cursor },
        ["channel", "ts"],
        messageFields,
      ),
      reading(
        "slack_list_users",
        "Lists the people of the workspace.",
        "users.list",
        { limit, cursor },
        [],
        ["members.id", "members.name", "members.profile.real_name", "members.deleted", "members.is_bot"],
      ),
      {
        ...base("slack_post_message", "Posts a message to a channel or a thread.", "chat.postMessage"),
        method: "POST",
        approval: "always",
        parameters: {
          type: "object",
          properties: {
            channel,
            text: { type: "string", minLength: 1, maxLength: 4000, description: "The message, in Slack's mrkdwn." },
            thread_ts: { type: "string", maxLength: 40, description: "ts of the message to answer in its thread." },
          },
          required: ["channel", "text"],
          additionalProperties: false,
        },
        output_fields: ["ok", "error", "channel", "ts"],
      },
    ];
  },
};
