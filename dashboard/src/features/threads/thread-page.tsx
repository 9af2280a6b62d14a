import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ApiError } from "../../lib/api.ts";
import type { Mode } from "../../lib/types.ts";
import { useLiveChanges } from "../../lib/use-live-changes.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { buttonClass } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { ObjectNotFound } from "../../ui/object-not-found.tsx";
import { SheetHead } from "../../ui/sheet.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { ThreadConversation } from "./thread-conversation.tsx";
import { ThreadHead } from "./thread-head.tsx";
import { allThreads, type Thread, threadPath, threadQuery } from "./threads-api.ts";

interface ThreadPageProps {
  id: string;
  onLookIn: (mode: Mode) => void;
  onLeave: () => void;
}

/** One conversation: what was said, by which runs, and a way to go on. */
export function ThreadPage(props: ThreadPageProps) {
  const { id, onLookIn } = props;
  const at = useWorkspace();
  const thread = useQuery(threadQuery(at, id));
  if (thread.error instanceof ApiError && thread.error.status === 404)
    return (
      <ObjectNotFound noun="thread" id={id} path={threadPath(id)} onLookIn={onLookIn}>
        <Link to="/threads" className={buttonClass()}>
          Go to threads
        </Link>
      </ObjectNotFound>
    );
  if (thread.data) return <FoundThread {...props} thread={thread.data} />;
  return (
    <>
      <SheetHead>
        <h1 className="text-lg">Thread</h1>
        <ModePill />
      </SheetHead>
      {thread.error ? (
        <div className="px-4 pt-3 rail:px-5">
          <ErrorNote title="The thread cannot be shown" error={thread.error} onRetry={() => void thread.refetch()} />
        </div>
      ) : (
        <div role="status" aria-label="Loading the thread" className="mx-auto flex w-full max-w-180 flex-col gap-4 p-5">
          <Skeleton className="w-1/3" />
          <Skeleton className="w-2/3" />
          <Skeleton className="w-1/2" />
        </div>
      )}
    </>
  );
}

function FoundThread({ thread, onLeave }: ThreadPageProps & { thread: Thread }) {
  const at = useWorkspace();
  const client = useQueryClient();
  const stream = useLiveChanges(() => void client.invalidateQueries({ queryKey: [...allThreads(at), thread.id] }));
  useTitle(thread.title || "Thread", "Threads");
  return (
    <>
      <ThreadHead thread={thread} stream={stream} onLeave={onLeave} />
      <ThreadConversation thread={thread} />
    </>
  );
}
