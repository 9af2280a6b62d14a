import { MutationCache, QueryCache, QueryClient, replaceEqualDeep } from "@tanstack/react-query";
import { holdsExactNumber } from "../../../server/lib/exact-numbers.ts";
import { sessionQuery } from "../entities/session/session.ts";
import { ApiError } from "../lib/api.ts";
import { reportConnectionLost } from "../lib/connection.ts";

/** Cache of all fetched data. Any 401 means that the session ended, so the session is refetched. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, query) => {
      if (error instanceof ApiError && error.status === 0) reportConnectionLost();
      if (query.queryKey[0] !== "session") askWhoIsSignedIn(error);
    },
  }),
  mutationCache: new MutationCache({
    onError: (error) => {
      if (error instanceof ApiError && error.status === 0) reportConnectionLost();
      askWhoIsSignedIn(error);
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (count, error) => count < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 500),
      retryDelay: (count) => 400 * 2 ** count,
      // Structural sharing would take exact numbers (kept as text) apart.
      structuralSharing: (before, after) => (holdsExactNumber(after) ? after : replaceEqualDeep(before, after)),
      networkMode: "always", // The server may be on this machine and reachable without a network.
    },
    mutations: { networkMode: "always" },
  },
});

function askWhoIsSignedIn(error: Error): void {
  if (error instanceof ApiError && error.status === 401) void queryClient.invalidateQueries(sessionQuery);
}
