import type { createHttpModule } from "../../http/create-http.ts";
import type { Base, Module } from "../../http/module.ts";
import type { ThreadStore } from "../../resources/threads/store.ts";
import { type ChatDoor, chatRoutes } from "./routes.ts";

/** Chat pages, for people without a key or a site of their own. */
export const composeChatDoor = ({
  http: { limiter, clientOf },
  threads,
  seal,
  ...door
}: Pick<ChatDoor, "pages" | "tokenForPage" | "memberOf"> & {
  http: Pick<ReturnType<typeof createHttpModule>, "limiter" | "clientOf">;
  threads: Pick<ThreadStore, "newestOf">;
} & Pick<Base, "seal">) =>
  ({
    exports: { routes: () => chatRoutes({ ...door, seal, limiter, clientOf, newestThread: threads.newestOf }) },
  }) satisfies Module;
