import { MutationCache, QueryCache, QueryClient, replaceEqualDeep } from "@tanstack/react-query";
import { holdsExactNumber } from "../../../server/lib/exact-numbers.ts";
import { sessionQuery } from "../entities/session/session.ts";
import { ApiError } from "../lib/api.ts";
import { reportLost } from "../lib/connection.ts";

/** The cache of all that was read. A 401 anywhere means that the session ended: the session is asked again. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, query) => {
      if (error instanceof ApiError && error.status === 0) reportLost();
      if (query.queryKey[0] !== "session") askWhoIsSignedIn(error);
    },
  }),
  mutationCache: new MutationCache({
    onError: (error) => {
      if (error instanceof ApiError && error.status === 0) reportLost();
      askWhoIsSignedIn(error);
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (count, error) => count < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 500),
      retryDelay: (count) => 400 * 2 ** count,
      // A number that is kept as its text may not be taken apart, as it is where two answers share what is equal.
      structuralSharing: (before, after) => (holdsExactNumber(after) ? after : replaceEqualDeep(before, after)),
      networkMode: "always", // The server may be this machine, which answers without any network.
    },
    mutations: { networkMode: "always" },
  },
});

function askWhoIsSignedIn(error: Error): void {
  if (error instanceof ApiError && error.status === 401) void queryClient.invalidateQueries(sessionQuery);
}
