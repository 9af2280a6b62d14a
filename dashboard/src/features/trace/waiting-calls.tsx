import type { RequiredCall as PendingCall } from "../../../../server/core/run-event.ts";
import { OpenCall } from "../../entities/call/open-call.tsx";

/** What waits for a person, to be answered in place by who may. */
export const WaitingCalls = ({ runId, calls }: { runId: string; calls: readonly PendingCall[] }) =>
  calls.map((call) => <OpenCall key={`${call.id} ${call.needs}`} runId={runId} call={call} />);
