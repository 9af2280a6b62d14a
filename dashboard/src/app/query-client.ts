import { QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError } from "../lib/api.ts";

/** The cache of all that was read. A 401 anywhere means that the session ended: the session is asked again. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, query) => {
      if (error instanceof ApiError && error.status === 401 && query.queryKey[0] !== "session")
        void queryClient.invalidateQueries({ queryKey: ["session"] });
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (count, error) => count < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 500),
      retryDelay: (count) => 400 * 2 ** count,
      networkMode: "always", // The server may be this machine, which answers without any network.
    },
    mutations: { networkMode: "always" },
  },
});
