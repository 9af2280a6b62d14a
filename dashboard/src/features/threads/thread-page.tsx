import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import type { Environment as Mode } from "../../../../server/core/scope.ts";
import type { Thread } from "../../../../server/wire/thread.ts";
import { ObjectHead } from "../../entities/resource/object-head.tsx";
import { ObjectPage } from "../../entities/resource/object-page.tsx";
import { threadApi, threadQuery } from "../../entities/thread/thread-api.ts";
import { formatCount, plural } from "../../lib/format.ts";
import { useLiveChanges } from "../../lib/use-live-changes.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ActsMenu } from "../../ui/acts-menu.tsx";
import { Button } from "../../ui/button.tsx";
import { DeleteDialog } from "../../ui/delete-dialog.tsx";
import { Fact, IdFact } from "../../ui/facts.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { LostBadge } from "../../ui/stream-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { EditThread } from "./edit-thread.tsx";
import { ThreadConversation } from "./thread-conversation.tsx";
import { ThreadPill } from "./thread-pill.tsx";

interface ThreadPageProps {
  id: string;
  onLookIn: (mode: Mode) => void;
  onLeave: () => void;
}

/** One conversation: what was said, by which runs, and a way to go on. */
export function ThreadPage({ id, onLookIn, onLeave }: ThreadPageProps) {
  const thread = useQuery(threadQuery(useWorkspace(), id));
  return (
    <ObjectPage object={thread} noun="thread" loading={<Conversation />} list="/threads" id={id} onLookIn={onLookIn}>
      {(thread) => (
        <>
          <ThreadHead thread={thread} onLeave={onLeave} />
          <ThreadConversation thread={thread} />
        </>
      )}
    </ObjectPage>
  );
}

/** Whose the thread is, how it stands, and what can be done with it. */
function ThreadHead({ thread, onLeave }: { thread: Thread; onLeave: () => void }) {
  const { id, title, status, user_id, session_id } = thread;
  const at = useWorkspace();
  const client = useQueryClient();
  const [asks, setAsks] = useState<"edit" | "delete" | null>(null);
  const stream = useLiveChanges(() => void client.invalidateQueries(threadApi.of(at, id)));
  return (
    <>
      <ObjectHead
        list="/threads"
        name={title || "Untitled thread"}
        pills={<ThreadPill status={status} />}
        links={<LostBadge stream={stream} />}
        acts={
          <>
            <Button onClick={() => setAsks("edit")}>
              <Pencil aria-hidden className="size-4" strokeWidth={1.5} />
              Edit thread
            </Button>
            <ActsMenu acts={[{ icon: Trash2, word: "Delete thread", danger: true, onDo: () => setAsks("delete") }]} />
          </>
        }
      >
        <IdFact noun="thread" id={id} />
        {user_id && (
          <Fact name="User">
            <Link
              to="/threads"
              search={{ user: user_id }}
              className="cut hover:underline"
              title="All threads of this user"
            >
              {user_id}
            </Link>
          </Fact>
        )}
        {session_id && (
          <Fact name="Session">
            <Link to="/threads" search={{ session: session_id }} className="cut hover:underline">
              {session_id}
            </Link>
          </Fact>
        )}
        <Fact name="Messages">{formatCount(thread.message_count)}</Fact>
        <Fact name="Created">
          <Time at={thread.created_at} />
        </Fact>
        {Object.entries(thread.metadata).map(([key, value]) => (
          <Fact key={key} name={key}>
            <span className="cut" title={value}>
              {value}
            </span>
          </Fact>
        ))}
        <Fact name="Runs">
          <Link to="/runs" search={{ thread: id }} className="text-accent hover:underline">
            All runs
          </Link>
        </Fact>
      </ObjectHead>
      {asks === "edit" && <EditThread thread={thread} onClose={() => setAsks(null)} />}
      {asks === "delete" && <DeleteThread thread={thread} onClose={() => setAsks(null)} onDeleted={onLeave} />}
    </>
  );
}

/** Deletes a thread with what was said in it, after saying so. */
function DeleteThread({ thread, ...rest }: { thread: Thread; onClose: () => void; onDeleted: () => void }) {
  const { id, title, message_count, status } = thread;
  const at = useWorkspace();
  return (
    <DeleteDialog
      noun="thread"
      name={title || id}
      told=""
      remove={() => threadApi.remove(at, id)}
      gone={threadApi.of(at, id)}
      stale={[threadApi.all(at)]}
      {...rest}
    >
      <p>
        {message_count === 0
          ? "It has no messages."
          : `${plural(message_count, "message")} ${message_count === 1 ? "is" : "are"} permanently deleted.`}{" "}
        Its runs and their traces are kept.
      </p>
      {status !== "idle" && <p className="mt-2">It has a run in progress: cancel that run first.</p>}
    </DeleteDialog>
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
