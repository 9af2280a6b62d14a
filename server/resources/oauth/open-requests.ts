export type OpenRequests = ReturnType<typeof createOpenRequests>;

/**
 * Requests for tokens that have begun and whose tokens are not stored yet. A move of their project and a stop of the
 * server wait for them: an issuer that rotates refresh tokens has forgotten the former one by then, so that a token which
 * is not stored loses the grant. `closing` aborts when the server stops.
 */
export function createOpenRequests({ closing }: { closing: AbortSignal }) {
  const closed = new Set<string>();
  const open = new Map<string, Set<Promise<unknown>>>();

  return {
    /** True if no request of the project may begin. */
    isClosed: (projectId: string): boolean => closing.aborted || closed.has(projectId),

    /** Counts a request of a project as open until its work has settled, which includes storing the tokens. */
    track<T>(projectId: string, work: Promise<T>): Promise<T> {
      const all = open.get(projectId) ?? new Set();
      open.set(projectId, all.add(work));
      return work.finally(() => {
        all.delete(work);
        if (all.size === 0 && open.get(projectId) === all) open.delete(projectId);
      });
    },

    /** Lets no request of a project begin, and resolves once the open ones have settled. */
    async close(projectId: string): Promise<void> {
      closed.add(projectId);
      for (let all = open.get(projectId); all; all = open.get(projectId)) await Promise.allSettled(all);
    },

    /** Lets requests of a project begin again: it stays, or has left. */
    reopen: (projectId: string): void => void closed.delete(projectId),

    /** Resolves once the requests of all projects have settled. Call after `closing`. */
    async stop(): Promise<void> {
      while (open.size > 0) await Promise.allSettled([...open.values()].flatMap((all) => [...all]));
    },
  };
}
