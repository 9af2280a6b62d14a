import { useQuery } from "@tanstack/react-query";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import type { List } from "../../../../server/wire/schema.ts";
import type { At } from "../../entities/resource/resource.ts";
import { runApi, runQuery } from "../../entities/run/run-api.ts";
import { threadApi } from "../../entities/thread/thread-api.ts";
import { get, query } from "../../lib/api.ts";
import { wholeOf } from "../../lib/whole-of.ts";
import { useWorkspace } from "../../lib/workspace.ts";

/** A run as its lane has read it, for what it waits for and what it came to. */
export function useHeldRun(id: string | null): Run | undefined {
  return useQuery({ ...runQuery(useWorkspace(), id ?? ""), enabled: false }).data;
}

/** The newest runs of a thread, oldest first. A thread that is not there is refused: a list of its runs is only empty. */
export async function runsOfThread(at: At, threadId: string, signal: AbortSignal): Promise<Run[]> {
  const [page] = await Promise.all([
    get<List<Run>>(runApi.url(at) + query({ thread_id: threadId, limit: 20 }), signal),
    get(threadApi.url(at, threadId), signal),
  ]);
  const runs = page.data.map((run) => wholeOf(run, runApi.url(at, run.id), signal));
  return (await Promise.all(runs)).reverse();
}
