import type { ProtocolPlugin } from "../../http/module.ts";
import type { ProtocolModules } from "../modules.ts";
import { chatRoutes } from "./routes.ts";

/** Chat pages, for people without a key or a site of their own. */
export const createChatPages =
  ({ base, http, threads, chat, keys, memberOf }: ProtocolModules): ProtocolPlugin =>
  () =>
    chatRoutes({
      pages: chat.store,
      tokenForPage: keys.tokenForPage,
      memberOf,
      newestThread: threads.store.newestOf,
      seal: base.seal,
      limiter: http.limiter,
      clientOf: http.clientOf,
    });
