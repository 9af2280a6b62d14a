import { queryOptions } from "@tanstack/react-query";
import type { ChatPage } from "../../../../server/domain/api-types/chat-page.ts";
import type { PutChatPage } from "../../../../server/resources/chat/schema.ts";
import { get, isNotFound, post, put, remove } from "../../lib/api.ts";
import type { WorkspaceKey } from "../crud/resource.ts";
import { agentApi } from "./agent-api.ts";

const url = (at: WorkspaceKey, id: string, rest = ""): string => agentApi.url(at, id, `/chat_page${rest}`);

/** The agent's chat page; null if it has none. */
export const chatPageQuery = (at: WorkspaceKey, id: string) =>
  queryOptions({
    queryKey: [...agentApi.of(at, id).queryKey, "chat_page"],
    queryFn: ({ signal }): Promise<ChatPage | null> =>
      get<ChatPage>(url(at, id), signal).catch((error) => {
        if (isNotFound(error)) return null;
        throw error;
      }),
  });

export const setChatPage = (at: WorkspaceKey, id: string, page: PutChatPage): Promise<ChatPage> =>
  put(url(at, id), page);
export const rotateChatPage = (at: WorkspaceKey, id: string): Promise<ChatPage> => post(url(at, id, "/rotate"));
export const closeChatPage = (at: WorkspaceKey, id: string): Promise<unknown> => remove(url(at, id));
