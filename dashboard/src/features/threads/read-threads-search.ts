import { threadStatuses } from "../../../../server/domain/api-types/enums.ts";
import type { ThreadsSearch } from "../../entities/thread/thread-api.ts";
import { omitUndefined, readChoice, readPageSearch, readText } from "../../lib/page-search.ts";

/** Parses the search parameters of the list. */
export const readThreadsSearch = (search: Record<string, unknown>): ThreadsSearch =>
  omitUndefined({
    user: readText(search.user, 255),
    session: readText(search.session, 255),
    status: readChoice(search.status, threadStatuses),
    ...readPageSearch(search, "thr"),
  });
