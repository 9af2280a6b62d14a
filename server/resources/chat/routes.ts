import { Elysia } from "elysia";
import { ChatPage } from "../../domain/api-types/chat-page.ts";
import { Deleted } from "../../domain/api-types/schema.ts";
import type { Auth } from "../../http/auth.ts";
import { EmptyBody, pathOf } from "../../http/schemas.ts";
import { PutChatPage } from "./schema.ts";
import type { ChatPageStore } from "./store.ts";

const params = pathOf("agent");

/** `/v1/agents/:id/chat_page`. Reading needs the same scope as writing, because the link grants access. */
export const chatPageRoutes = ({ auth, pages }: { auth: Auth; pages: ChatPageStore }) =>
  new Elysia({ prefix: "/agents", tags: ["Agents"] })
    .use(auth)
    .get("/:id/chat_page", ({ principal, params }) => pages.get(principal, params.id), {
      operation: {
        id: "agents.chat_page.retrieve",
        summary: "Retrieve an agent's chat page, with its link",
        needs: "admin",
        returns: ChatPage,
      },
      params,
    })
    .put("/:id/chat_page", ({ principal, params, body }) => pages.put(principal, params.id, body), {
      operation: {
        id: "agents.chat_page.set",
        summary: "Give an agent a chat page, or change it; its link stays",
        needs: "admin",
        returns: ChatPage,
      },
      params,
      body: PutChatPage,
    })
    .post("/:id/chat_page/rotate", ({ principal, params }) => pages.rotate(principal, params.id), {
      operation: {
        id: "agents.chat_page.rotate",
        summary: "Give a chat page another link; the old one is over at once",
        needs: "admin",
        needsRoom: false,
        returns: ChatPage,
      },
      params,
      body: EmptyBody,
    })
    .delete("/:id/chat_page", ({ principal, params }) => pages.remove(principal, params.id), {
      operation: {
        id: "agents.chat_page.delete",
        summary: "Close an agent's chat page",
        needs: "admin",
        returns: Deleted,
      },
      params,
    });
