import type { PendingCall } from "../../lib/types.ts";
import { OpenCall } from "../../ui/open-call.tsx";

/** What waits for a person, to be answered in place by who may. */
export const WaitingCalls = ({ runId, calls }: { runId: string; calls: readonly PendingCall[] }) =>
  calls.map((call) => <OpenCall key={`${call.id} ${call.needs}`} runId={runId} call={call} />);
