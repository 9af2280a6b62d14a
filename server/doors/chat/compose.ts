import type { composeHttp } from "../../http/compose.ts";
import type { Base, Part } from "../../http/part.ts";
import type { ThreadStore } from "../../threads/store.ts";
import { type ChatDoor, chatRoutes } from "./routes.ts";

/** Chat pages, for people who have neither a key nor a site of their own. */
export const composeChatDoor = ({
  http: { limiter, clientOf },
  threads,
  seal,
  ...door
}: Pick<ChatDoor, "pages" | "tokenForPage" | "memberOf"> & {
  http: Pick<ReturnType<typeof composeHttp>, "limiter" | "clientOf">;
  threads: Pick<ThreadStore, "newestOf">;
} & Pick<Base, "seal">) =>
  ({
    ports: { routes: () => chatRoutes({ ...door, seal, limiter, clientOf, newestThread: threads.newestOf }) },
  }) satisfies Part;
