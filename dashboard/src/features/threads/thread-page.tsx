import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import type { Thread } from "../../../../server/domain/api-types/thread.ts";
import type { Environment as Mode } from "../../../../server/domain/scope.ts";
import { ObjectHead } from "../../entities/crud/object-head.tsx";
import { ObjectPage } from "../../entities/crud/object-page.tsx";
import { threadApi, threadQuery } from "../../entities/thread/thread-api.ts";
import { useLiveChanges } from "../../hooks/use-live-changes.ts";
import { formatCount, plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Description, IdDescription } from "../../ui/data/description-list.tsx";
import { LostBadge } from "../../ui/data/stream-badge.tsx";
import { Time } from "../../ui/data/time.tsx";
import { ActionsMenu } from "../../ui/dialogs/actions-menu.tsx";
import { DeleteDialog } from "../../ui/dialogs/delete-dialog.tsx";
import { Skeleton } from "../../ui/feedback/skeleton.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { EditThread } from "./edit-thread.tsx";
import { ThreadConversation } from "./thread-conversation.tsx";
import { ThreadPill } from "./thread-pill.tsx";

interface ThreadPageProps {
  id: string;
  onLookIn: (mode: Mode) => void;
  onLeave: () => void;
}

/** Page of one thread: messages, their runs and the message form. */
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

/** Head of a thread's page: user, session, status and actions. */
function ThreadHead({ thread, onLeave }: { thread: Thread; onLeave: () => void }) {
  const { id, title, status, user_id, session_id } = thread;
  const at = useWorkspace();
  const client = useQueryClient();
  const [dialog, setDialog] = useState<"edit" | "delete" | null>(null);
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
            <Button onClick={() => setDialog("edit")}>
              <Pencil aria-hidden className="size-4" strokeWidth={1.5} />
              Edit thread
            </Button>
            <ActionsMenu
              acts={[{ icon: Trash2, word: "Delete thread", danger: true, onDo: () => setDialog("delete") }]}
            />
          </>
        }
      >
        <IdDescription noun="thread" id={id} />
        {user_id && (
          <Description name="User">
            <Link
              to="/threads"
              search={{ user: user_id }}
              className="cut hover:underline"
              title="All threads of this user"
            >
              {user_id}
            </Link>
          </Description>
        )}
        {session_id && (
          <Description name="Session">
            <Link to="/threads" search={{ session: session_id }} className="cut hover:underline">
              {session_id}
            </Link>
          </Description>
        )}
        <Description name="Messages">{formatCount(thread.message_count)}</Description>
        <Description name="Created">
          <Time at={thread.created_at} />
        </Description>
        {Object.entries(thread.metadata).map(([key, value]) => (
          <Description key={key} name={key}>
            <span className="cut" title={value}>
              {value}
            </span>
          </Description>
        ))}
        <Description name="Runs">
          <Link to="/runs" search={{ thread: id }} className="text-accent hover:underline">
            All runs
          </Link>
        </Description>
      </ObjectHead>
      {dialog === "edit" && <EditThread thread={thread} onClose={() => setDialog(null)} />}
      {dialog === "delete" && <DeleteThread thread={thread} onClose={() => setDialog(null)} onDeleted={onLeave} />}
    </>
  );
}

/** Deletes a thread and its messages after confirmation. */
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

/** Placeholder with the size of the conversation. */
function Conversation() {
  return (
    <div role="status" aria-label="Loading the thread" className="mx-auto flex w-full max-w-180 flex-col gap-4 p-5">
      <Skeleton className="w-1/3" />
      <Skeleton className="w-2/3" />
      <Skeleton className="w-1/2" />
    </div>
  );
}
