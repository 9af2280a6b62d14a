import { queryOptions } from "@tanstack/react-query";
import type { PutChatPage } from "../../../../server/chat/schema.ts";
import type { ChatPage } from "../../../../server/wire/chat-page.ts";
import { get, isMissing, post, put, remove } from "../../lib/api.ts";
import type { At } from "../resource/resource.ts";
import { agentApi } from "./agent-api.ts";

const url = (at: At, id: string, rest = ""): string => agentApi.url(at, id, `/chat_page${rest}`);

/** The agent's chat page; null where it has none. */
export const chatPageQuery = (at: At, id: string) =>
  queryOptions({
    queryKey: [...agentApi.of(at, id).queryKey, "chat_page"],
    queryFn: ({ signal }): Promise<ChatPage | null> =>
      get<ChatPage>(url(at, id), signal).catch((error) => {
        if (isMissing(error)) return null;
        throw error;
      }),
  });

export const setChatPage = (at: At, id: string, page: PutChatPage): Promise<ChatPage> => put(url(at, id), page);
export const rotateChatPage = (at: At, id: string): Promise<ChatPage> => post(url(at, id, "/rotate"));
export const closeChatPage = (at: At, id: string): Promise<unknown> => remove(url(at, id));
