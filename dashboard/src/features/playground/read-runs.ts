import type { QueryClient } from "@tanstack/react-query";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { runApi, runQuery } from "../../entities/run/run-api.ts";
import { get } from "../../lib/api.ts";
import type { Workspace } from "../../lib/workspace.ts";

const retry_ms = 2000;

/**
 * Reads runs anew, each at most once at a time: who asks while one is being read gets it once more afterwards, since
 * what is on its way may be older than what was asked for.
 */
export function createRunReader(at: Pick<Workspace, "projectId" | "mode">, client: QueryClient) {
  const reading = new Set<string>();
  const wanted = new Set<string>();
  const timers = new Set<ReturnType<typeof setTimeout>>();

  function ask(id: string): void {
    if (reading.has(id)) wanted.add(id);
    else void read(id);
  }

  async function read(id: string): Promise<void> {
    reading.add(id);
    try {
      client.setQueryData(runQuery(at, id).queryKey, await get<Run>(runApi.url(at, id)));
    } catch {
      timers.add(setTimeout(() => ask(id), retry_ms));
    }
    reading.delete(id);
    if (wanted.delete(id)) ask(id);
  }

  return {
    ask,
    stop() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}
