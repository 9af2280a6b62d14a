import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { MessagesSquare } from "lucide-react";
import { useMemo } from "react";
import type { Thread } from "../../../../server/domain/api-types/thread.ts";
import { isOver } from "../../../../server/domain/run-state.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { messagesQuery, threadRunsQuery } from "../../entities/thread/thread-api.ts";
import { findCall } from "../../entities/tool-call/next-call.ts";
import { useFollowEnd } from "../../hooks/use-follow-end.ts";
import { useKeptFocus } from "../../hooks/use-kept-focus.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { conversation } from "./conversation.ts";
import { RunInThread } from "./run-in-thread.tsx";
import { OpenRun, RunPartView } from "./run-part.tsx";

/** Messages, oldest first, with unfinished runs and the message form. */
export function ThreadConversation({ thread }: { thread: Thread }) {
  const at = useWorkspace();
  const may = usePermission("member");
  const messages = useInfiniteQuery(messagesQuery(at, thread.id));
  const { data: runs } = useQuery(threadRunsQuery(at, thread.id));
  const loadedMessages = useMemo(() => messages.data?.pages.flatMap(({ data }) => data).toReversed(), [messages.data]);
  const parts = useMemo(() => conversation(loadedMessages ?? []), [loadedMessages]);
  const open = runs?.data.filter(({ status }) => !isOver(status)).toReversed() ?? [];
  const last = runs?.data[0];
  const scroller = useFollowEnd(true, `${loadedMessages?.length} ${open.map(({ id, status }) => id + status)}`);
  // Focus the next pending call after one was answered, otherwise the conversation.
  useKeptFocus(scroller, (part) => findCall(part) ?? part);
  const isEmpty = loadedMessages?.length === 0 && open.length === 0;
  return (
    <>
      <section
        ref={scroller}
        aria-label="Conversation"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard.
        tabIndex={0}
        className="min-h-0 flex-1 overflow-y-auto px-4 py-5 focus-visible:shadow-[inset_0_0_0_2px_var(--focus-color)] rail:px-5"
      >
        <h2 className="sr-only">Conversation</h2>
        <div className="mx-auto flex max-w-180 flex-col gap-6">
          <ErrorNote
            title={loadedMessages ? "The conversation is not up to date" : "The conversation cannot be shown"}
            error={messages.error}
            onRetry={() => void messages.refetch()}
          />
          {messages.hasNextPage && (
            <Button
              size="sm"
              className="self-center"
              disabled={messages.isFetchingNextPage}
              onClick={() => void messages.fetchNextPage()}
            >
              Show earlier messages
            </Button>
          )}
          {parts.map((part) => (
            <RunPartView
              key={`${part.runId} ${part.items[0]?.key}`}
              part={part}
              run={runs?.data.find(({ id }) => id === part.runId)}
            />
          ))}
          {open.map((run) => (
            <OpenRun key={run.id} run={run} may={may} />
          ))}
          {isEmpty && (
            <EmptyState icon={MessagesSquare} title="No messages yet">
              <p className="max-w-[46ch] text-muted">
                {may ? "Choose an agent below and send a message." : "Messages of this thread's runs appear here."}
              </p>
            </EmptyState>
          )}
        </div>
      </section>
      {may && (
        <RunInThread
          thread={thread}
          lastAgent={open.at(-1)?.agent_id ?? thread.last_agent_id ?? last?.agent_id}
          isBusy={open.length > 0}
          workingAgent={open[0]?.agent_id}
        />
      )}
    </>
  );
}
