const again_ms = 20;

/**
 * Lets requests leave only while this node is known to lead its cell: until the moment that `until` holds, in ms since
 * 1970. A process that was stopped for longer would go on with calls that another node has made meanwhile.
 */
export function whileLeading(until: BigInt64Array, fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  const request = async (...given: Parameters<typeof fetch>): Promise<Response> => {
    while (BigInt(Date.now()) >= Atomics.load(until, 0)) {
      given[1]?.signal?.throwIfAborted();
      await Bun.sleep(again_ms);
    }
    return await fetch(...given);
  };
  return Object.assign(request, fetch);
}
