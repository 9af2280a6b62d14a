import { CircleHelp, LoaderCircle, type LucideIcon, MessageSquare } from "lucide-react";
import type { ThreadStatus } from "../../../../server/wire/names.ts";
import { Pill, type Tone } from "../../ui/pill.tsx";

export const threadWords: Record<ThreadStatus, string> = { idle: "Idle", busy: "Busy", waiting: "Waiting" };

const looks: Record<ThreadStatus, [Tone, LucideIcon]> = {
  idle: ["plain", MessageSquare],
  busy: ["info", LoaderCircle],
  waiting: ["warn", CircleHelp],
};

/** Whether a run of the thread is at work, or waits for an answer. */
export function ThreadPill({ status }: { status: ThreadStatus }) {
  const [tone, icon] = looks[status];
  return (
    <Pill tone={tone} icon={icon} spin={status === "busy"}>
      {threadWords[status]}
    </Pill>
  );
}
