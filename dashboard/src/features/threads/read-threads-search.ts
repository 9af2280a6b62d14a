import { threadStatuses } from "../../../../server/wire/names.ts";
import type { ThreadsSearch } from "../../entities/thread/thread-api.ts";
import { given, readChoice, readPageSearch, readText } from "../../lib/page-search.ts";

/** What the address of the list of threads says. */
export const readThreadsSearch = (search: Record<string, unknown>): ThreadsSearch =>
  given({
    user: readText(search.user, 255),
    session: readText(search.session, 255),
    status: readChoice(search.status, threadStatuses),
    ...readPageSearch(search, "thr"),
  });
