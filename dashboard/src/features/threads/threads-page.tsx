import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { MessagesSquare } from "lucide-react";
import { useState } from "react";
import type { Thread } from "../../../../server/domain/api-types/thread.ts";
import { ListPage } from "../../entities/crud/list-page.tsx";
import { useRefresh } from "../../entities/crud/use-refresh.ts";
import { type ThreadsSearch, threadApi, threadsQuery } from "../../entities/thread/thread-api.ts";
import { useLiveChanges } from "../../hooks/use-live-changes.ts";
import { formatCount, joinFacts } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { LostBadge } from "../../ui/data/stream-badge.tsx";
import { Cell, Row, rowLink, SecondLine } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Chip, choicesOf } from "../../ui/forms/chip.tsx";
import { TextChip } from "../../ui/forms/text-chip.tsx";
import { CreateThread } from "./create-thread.tsx";
import { ThreadPill, threadWords } from "./thread-pill.tsx";

const columns = [
  { label: "Status" },
  { label: "Title and owner" },
  { label: "Messages", right: true },
  { label: "Updated" },
];
const statuses = choicesOf(threadWords, (value) => <ThreadPill status={value} />);

interface ThreadsPageProps {
  search: ThreadsSearch;
  onSearch: (search: ThreadsSearch) => void;
  onOpen: (threadId: string) => void;
}

/** Threads of a workspace, newest first. */
export function ThreadsPage({ search, onSearch, onOpen }: ThreadsPageProps) {
  const [creates, setCreates] = useState(false);
  const list = useQuery(threadsQuery(useWorkspace(), search));
  const refresh = useRefresh(threadApi);
  const stream = useLiveChanges(() => void refresh());
  const { user, session, status } = search;
  const filter = (change: ThreadsSearch) => onSearch({ user, session, status, ...change });
  const filterTexts = [
    status && `status “${threadWords[status]}”`,
    user && `user “${user}”`,
    session && `session “${session}”`,
  ].filter(Boolean);
  return (
    <>
      <ListPage
        title="Threads"
        noun="thread"
        list={list}
        columns={columns}
        search={search}
        onSearch={onSearch}
        row={(thread) => <ThreadRow key={thread.id} thread={thread} />}
        acts={<LostBadge stream={stream} />}
        filters={
          <>
            <Chip name="Status" value={status} choices={statuses} onChange={(next) => filter({ status: next })} />
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
            {filterTexts.length > 0 && (
              <Button kind="ghost" size="sm" className="ml-auto" onClick={() => onSearch({})}>
                Clear
              </Button>
            )}
          </>
        }
        searchWords={`with ${filterTexts.join(" and ")}`}
        create={{ act: "Create thread", first: "Create the first thread", onCreate: () => setCreates(true) }}
        empty={{
          icon: MessagesSquare,
          title: "No threads yet",
          about: (
            <>
              A thread is a conversation over several runs: each run sees the earlier messages. Name it in{" "}
              <code>thread_id</code> when you start a run.
            </>
          ),
        }}
      />
      {creates && <CreateThread onClose={() => setCreates(false)} onCreated={onOpen} />}
    </>
  );
}

function ThreadRow({ thread }: { thread: Thread }) {
  const { id, title, user_id, session_id, message_count, updated_at } = thread;
  const owner = joinFacts(user_id && `User ${user_id}`, session_id && `session ${session_id}`);
  return (
    <Row>
      <Cell className="rail:w-px">
        <ThreadPill status={thread.status} />
      </Cell>
      <Cell main>
        <Link to="/threads/$threadId" params={{ threadId: id }} data-row title={title ?? id} className={rowLink}>
          {title ? <span className="font-medium">{title}</span> : <code>{id}</code>}
        </Link>
        <SecondLine title={owner}>{owner || "No user"}</SecondLine>
      </Cell>
      <Cell right>
        {formatCount(message_count)}
        <span className="rail:hidden"> {message_count === 1 ? "message" : "messages"}</span>
      </Cell>
      <Cell className="whitespace-nowrap text-muted max-rail:ml-auto">
        <Time at={updated_at} />
      </Cell>
    </Row>
  );
}
