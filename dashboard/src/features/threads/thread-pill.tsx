import { CircleHelp, LoaderCircle, MessageSquare } from "lucide-react";
import type { ThreadStatus } from "../../../../server/domain/api-types/enums.ts";
import { type Look, LookPill, labelsOf } from "../../ui/data/pill.tsx";

const looks: Record<ThreadStatus, Look> = {
  idle: ["plain", MessageSquare, "Idle"],
  busy: ["info", LoaderCircle, "Busy"],
  waiting: ["warn", CircleHelp, "Waiting"],
};

export const threadWords = labelsOf(looks);

/** Status of a thread: a run is in progress, or waits for an answer. */
export const ThreadPill = ({ status }: { status: ThreadStatus }) => (
  <LookPill look={looks[status]} spin={status === "busy"} />
);
