import { CircleHelp, LoaderCircle, MessageSquare } from "lucide-react";
import type { ThreadStatus } from "../../../../server/wire/names.ts";
import { type Look, LookPill, wordsOf } from "../../ui/pill.tsx";

const looks: Record<ThreadStatus, Look> = {
  idle: ["plain", MessageSquare, "Idle"],
  busy: ["info", LoaderCircle, "Busy"],
  waiting: ["warn", CircleHelp, "Waiting"],
};

export const threadWords = wordsOf(looks);

/** Whether a run of the thread is at work, or waits for an answer. */
export const ThreadPill = ({ status }: { status: ThreadStatus }) => (
  <LookPill look={looks[status]} spin={status === "busy"} />
);
