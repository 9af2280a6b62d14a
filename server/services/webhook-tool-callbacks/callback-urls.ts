import { timestamp } from "../../domain/time.ts";
import type { Base } from "../../http/module.ts";
import { onlyRow } from "../../storage/db/only-row.ts";
import type { RunHead } from "../../storage/journal/journal.ts";

export type CallbackUrls = ReturnType<typeof createCallbackUrls>;

/** Creates the URLs at which webhook tools send their results. `naming`: they contain the project. */
export function createCallbackUrls({ base: { db, seal, publicUrl }, naming }: { base: Base; naming: boolean }) {
  const selectTimes = db.sqlite.query<{ ms: number }, [string]>(
    "SELECT action_timeout_ms AS ms FROM runs WHERE id = ?",
  );
  const proof = (runId: string, callId: string): string => seal.mac(`tool_callback/${runId}/${callId}`);

  return {
    /** Returns the secret part of a call's URL. */
    proof,
    /** Returns the result URL of a call and the time until which the run waits. */
    addressOf({ run_id, project_id }: RunHead, callId: string, now: number) {
      const place = naming ? `.${project_id}` : "";
      const url = `${publicUrl()}/callbacks/${run_id}.${callId}.${proof(run_id, callId)}${place}`;
      return { url, expires_at: timestamp(now + onlyRow(selectTimes.get(run_id)).ms) };
    },
  };
}
