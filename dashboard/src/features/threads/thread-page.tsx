import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Environment as Mode } from "../../../../server/core/scope.ts";
import type { Thread } from "../../../../server/wire/thread.ts";
import { ObjectPage } from "../../entities/resource/object-page.tsx";
import { threadApi, threadQuery } from "../../entities/thread/thread-api.ts";
import { useLiveChanges } from "../../lib/use-live-changes.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { ThreadConversation } from "./thread-conversation.tsx";
import { ThreadHead } from "./thread-head.tsx";

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
  return (
    <ObjectPage
      object={thread}
      noun="thread"
      loading={<Conversation />}
      id={id}
      path={`/threads/${id}`}
      list={
        <Link to="/threads" className={buttonClass()}>
          Go to threads
        </Link>
      }
      onLookIn={onLookIn}
    >
      {(thread) => <FoundThread {...props} thread={thread} />}
    </ObjectPage>
  );
}

function FoundThread({ thread, onLeave }: ThreadPageProps & { thread: Thread }) {
  const at = useWorkspace();
  const client = useQueryClient();
  const stream = useLiveChanges(() => void client.invalidateQueries(threadApi.of(at, thread.id)));
  useTitle(thread.title || "Thread", "Threads");
  return (
    <>
      <ThreadHead thread={thread} stream={stream} onLeave={onLeave} />
      <ThreadConversation thread={thread} />
    </>
  );
}

/** In the size of what comes. */
function Conversation() {
  return (
    <div role="status" aria-label="Loading the thread" className="mx-auto flex w-full max-w-180 flex-col gap-4 p-5">
      <Skeleton className="w-1/3" />
      <Skeleton className="w-2/3" />
      <Skeleton className="w-1/2" />
    </div>
  );
}
