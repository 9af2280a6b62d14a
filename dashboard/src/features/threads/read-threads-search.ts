import { threadStatuses } from "../../../../server/wire/names.ts";
import type { ThreadsSearch } from "../../entities/thread/thread-api.ts";
import { readChoice, readPageSearch, readText } from "../../lib/page-search.ts";

/** What the address of the list of threads says. */
export function readThreadsSearch(search: Record<string, unknown>): ThreadsSearch {
  const user = readText(search.user, 255);
  const session = readText(search.session, 255);
  const status = readChoice(search.status, threadStatuses);
  return {
    ...(user && { user }),
    ...(session && { session }),
    ...(status && { status }),
    ...readPageSearch(search, "thr"),
  };
}
