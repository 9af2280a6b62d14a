export type Departures = ReturnType<typeof createDepartures>;

/**
 * Keeps requests for tokens from being cut off by a move of their project or a stop of the server: an issuer that rotates
 * refresh tokens has forgotten the former one by then, so that a token which is not stored loses the grant. `closing`
 * says that the server stops.
 */
export function createDepartures({ closing }: { closing: AbortSignal }) {
  const departing = new Set<string>();
  const underWay = new Map<string, Set<Promise<unknown>>>();

  return {
    /** True if no request of the project may begin any more. */
    isDeparting: (projectId: string): boolean => closing.aborted || departing.has(projectId),

    /** Counts work of a project, which ends with what it stores, as under way. */
    during<T>(projectId: string, work: Promise<T>): Promise<T> {
      const all = underWay.get(projectId) ?? new Set();
      underWay.set(projectId, all.add(work));
      return work.finally(() => {
        all.delete(work);
        if (all.size === 0 && underWay.get(projectId) === all) underWay.delete(projectId);
      });
    },

    /** Lets no request of a project begin any more, and resolves once those under way are stored. */
    async depart(projectId: string): Promise<void> {
      departing.add(projectId);
      for (let all = underWay.get(projectId); all; all = underWay.get(projectId)) await Promise.allSettled(all);
    },

    /** Resolves once the requests of all projects are stored. Call after `closing`, which lets no other one begin. */
    async stop(): Promise<void> {
      while (underWay.size > 0) await Promise.allSettled([...underWay.values()].flatMap((all) => [...all]));
    },

    /** Call once the project stays or has left. */
    end: (projectId: string): void => void departing.delete(projectId),
  };
}
