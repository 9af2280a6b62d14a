import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ListFilter, MessagesSquare, Plus } from "lucide-react";
import { useRef, useState } from "react";
import { threadStatuses } from "../../../../server/wire/names.ts";
import type { Thread } from "../../../../server/wire/thread.ts";
import { useMay } from "../../entities/session/use-may.ts";
import { type ThreadsSearch, threadApi, threadsQuery } from "../../entities/thread/thread-api.ts";
import { formatCount } from "../../lib/format.ts";
import { useKeys } from "../../lib/use-keys.ts";
import { useLiveChanges } from "../../lib/use-live-changes.ts";
import { useRowKeys } from "../../lib/use-row-keys.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { Chip } from "../../ui/chip.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { Paging } from "../../ui/paging.tsx";
import { SheetBar, SheetHead } from "../../ui/sheet.tsx";
import { LostBadge } from "../../ui/stream-badge.tsx";
import { Cell, Row, rowLink, SecondLine, Table, TableSkeleton } from "../../ui/table.tsx";
import { TextChip } from "../../ui/text-chip.tsx";
import { Time } from "../../ui/time.tsx";
import { ViewOnly } from "../../ui/view-only.tsx";
import { CreateThread } from "./create-thread.tsx";
import { ThreadPill, threadWords } from "./thread-pill.tsx";

const columns = [
  { label: "Status" },
  { label: "Title and owner" },
  { label: "Messages", right: true },
  { label: "Last change", folds: true },
];
const statusChoices = threadStatuses.map((value) => ({
  value,
  word: threadWords[value],
  label: <ThreadPill status={value} />,
}));

interface ThreadsPageProps {
  search: ThreadsSearch;
  onSearch: (search: ThreadsSearch) => void;
  onOpen: (threadId: string) => void;
}

/** All conversations of a project and mode, the newest first. */
export function ThreadsPage({ search, onSearch, onOpen }: ThreadsPageProps) {
  const at = useWorkspace();
  const may = useMay("member");
  const client = useQueryClient();
  const body = useRef<HTMLDivElement>(null);
  const [creates, setCreates] = useState(false);
  const page = useQuery(threadsQuery(at, search));
  const stream = useLiveChanges(() => void client.invalidateQueries(threadApi.all(at)));
  useTitle("Threads", at.project.name);
  useRowKeys(body);
  useKeys({ c: () => setCreates(true) }, may);
  const { user, session, status } = search;
  const filter = (change: ThreadsSearch) => onSearch({ user, session, status, ...change });
  const threads = page.data?.data;
  return (
    <>
      <SheetHead>
        <h1 className="text-lg">Threads</h1>
        <ModePill />
        <div className="ml-auto flex items-center gap-2">
          <LostBadge stream={stream} />
          {may ? (
            <Button kind="primary" onClick={() => setCreates(true)}>
              <Plus aria-hidden className="size-4" strokeWidth={1.5} />
              Create thread
            </Button>
          ) : (
            <ViewOnly />
          )}
        </div>
      </SheetHead>
      <SheetBar>
        <Chip name="Status" value={status} choices={statusChoices} onChange={(next) => filter({ status: next })} />
        <TextChip
          name="User"
          value={user}
          placeholder="ada"
          hint="The user_id that your application gave the thread."
          onChange={(next) => filter({ user: next })}
        />
        <TextChip
          name="Session"
          value={session}
          hint="The session_id that your application gave the thread."
          onChange={(next) => filter({ session: next })}
        />
        {(user || session || status) && (
          <Button kind="ghost" size="sm" className="ml-auto" onClick={() => onSearch({})}>
            Clear
          </Button>
        )}
      </SheetBar>
      {page.error && (
        <div className="px-4 pt-3 rail:px-5">
          <ErrorNote
            title={threads ? "The list is not up to date" : "The threads cannot be shown"}
            error={page.error}
            onRetry={() => void page.refetch()}
          />
        </div>
      )}
      <section ref={body} aria-label="Threads" className="min-h-0 flex-1 overflow-y-auto">
        {page.isPending && !page.error && <TableSkeleton />}
        {threads && threads.length > 0 && (
          <Table label="Threads" columns={columns}>
            {threads.map((thread) => (
              <ThreadRow key={thread.id} thread={thread} />
            ))}
          </Table>
        )}
        {threads?.length === 0 && (
          <NoThreads search={search} onClear={() => onSearch({})} onCreate={may ? () => setCreates(true) : null} />
        )}
      </section>
      <Paging noun="thread" page={page.data} search={search} onPage={(place) => filter(place)} />
      {creates && <CreateThread onClose={() => setCreates(false)} onCreated={onOpen} />}
    </>
  );
}

function ThreadRow({ thread }: { thread: Thread }) {
  const { id, title, user_id, session_id, message_count, updated_at } = thread;
  const owner = [user_id && `User ${user_id}`, session_id && `session ${session_id}`].filter(Boolean).join(" · ");
  return (
    <Row>
      <Cell className="rail:w-px">
        <ThreadPill status={thread.status} />
      </Cell>
      <Cell main>
        <Link to="/threads/$threadId" params={{ threadId: id }} data-row title={title ?? id} className={rowLink}>
          {title ? <span className="font-medium">{title}</span> : <code>{id}</code>}
        </Link>
        <SecondLine title={owner}>{owner || "Of no user"}</SecondLine>
      </Cell>
      <Cell right>
        {formatCount(message_count)}
        <span className="rail:hidden"> {message_count === 1 ? "message" : "messages"}</span>
      </Cell>
      <Cell folds className="whitespace-nowrap text-muted max-rail:ml-auto">
        <Time at={updated_at} />
      </Cell>
    </Row>
  );
}

function NoThreads({
  search,
  onClear,
  onCreate,
}: {
  search: ThreadsSearch;
  onClear: () => void;
  onCreate: (() => void) | null;
}) {
  const { user, session, status, after, before } = search;
  const filters = [
    status && `status “${threadWords[status]}”`,
    user && `user “${user}”`,
    session && `session “${session}”`,
  ].filter(Boolean);
  if (filters.length > 0 || after || before)
    return (
      <EmptyState
        icon={ListFilter}
        title={filters.length > 0 ? "No thread matches these filters" : "No threads on this page"}
      >
        <p className="max-w-[60ch] text-muted wrap-anywhere">
          {filters.length > 0 ? `Nothing with ${filters.join(" and ")}.` : "They were deleted, or the address is old."}
        </p>
        <Button onClick={onClear}>{filters.length > 0 ? "Clear filters" : "Show the newest"}</Button>
      </EmptyState>
    );
  return (
    <EmptyState icon={MessagesSquare} title="No threads yet">
      <p className="max-w-[50ch] text-muted">
        A thread is a conversation over several runs: what one has said is there for the next. Name it in{" "}
        <code>thread_id</code> when you start a run.
      </p>
      {onCreate && (
        <Button kind="primary" onClick={onCreate}>
          Create the first thread
        </Button>
      )}
    </EmptyState>
  );
}
