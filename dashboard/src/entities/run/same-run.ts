import type { AnyRun as Run } from "../../../../server/wire/run.ts";

/** What makes the same run once more: outside of any thread, since what was said there has gone on. */
export function sameRun(run: Run & { session_id?: string | null; file_ids?: string[] }) {
  const { agent_id, input, user_id, session_id, file_ids } = run;
  return {
    agent_id,
    input,
    ...(user_id && { user_id }),
    ...(session_id && { session_id }),
    ...(file_ids?.length && { file_ids }),
  };
}
