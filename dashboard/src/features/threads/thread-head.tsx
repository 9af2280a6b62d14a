import { Link } from "@tanstack/react-router";
import { Ellipsis, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import type { Thread } from "../../../../server/wire/thread.ts";
import { useMay } from "../../entities/session/use-may.ts";
import type { StreamState } from "../../lib/events.ts";
import { formatCount } from "../../lib/format.ts";
import { Breadcrumb } from "../../ui/breadcrumb.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { Menu } from "../../ui/menu.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { SheetHead } from "../../ui/sheet.tsx";
import { LostBadge } from "../../ui/stream-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { ViewOnly } from "../../ui/view-only.tsx";
import { DeleteThread } from "./delete-thread.tsx";
import { EditThread } from "./edit-thread.tsx";
import { ThreadPill } from "./thread-pill.tsx";

/** Whose the thread is, how it stands, and what can be done with it. */
export function ThreadHead({ thread, stream, onLeave }: { thread: Thread; stream: StreamState; onLeave: () => void }) {
  const may = useMay("member");
  const [asks, setAsks] = useState<"edit" | "delete" | null>(null);
  return (
    <SheetHead>
      <Breadcrumb>
        <Link to="/threads">Threads</Link>
      </Breadcrumb>
      <h1 className="cut text-lg max-rail:grow max-rail:basis-2/5" title={thread.title ?? thread.id}>
        {thread.title || "Untitled thread"}
      </h1>
      <ThreadPill status={thread.status} />
      <ModePill />
      <div className="ml-auto flex items-center gap-2">
        <LostBadge stream={stream} />
        {may ? (
          <>
            <Button onClick={() => setAsks("edit")}>
              <Pencil aria-hidden className="size-4" strokeWidth={1.5} />
              Edit thread
            </Button>
            <Menu
              align="end"
              trigger={
                <button type="button" aria-label="More acts" className={buttonClass({ kind: "ghost", size: "icon" })}>
                  <Ellipsis aria-hidden className="size-4" strokeWidth={1.5} />
                </button>
              }
            >
              {({ MenuItem }) => (
                <MenuItem onClick={() => setAsks("delete")}>
                  <Trash2 aria-hidden className="size-4" strokeWidth={1.5} />
                  Delete thread
                </MenuItem>
              )}
            </Menu>
          </>
        ) : (
          <ViewOnly />
        )}
      </div>
      <ThreadFacts thread={thread} />
      {asks === "edit" && <EditThread thread={thread} onClose={() => setAsks(null)} />}
      {asks === "delete" && <DeleteThread thread={thread} onClose={() => setAsks(null)} onDeleted={onLeave} />}
    </SheetHead>
  );
}

function ThreadFacts({ thread }: { thread: Thread }) {
  const { id, user_id, session_id, message_count, metadata, created_at } = thread;
  const pairs = Object.entries(metadata);
  return (
    <Facts>
      <Fact name="Id">
        <code className="cut">{id}</code>
        <CopyButton text={id} what="thread id" />
      </Fact>
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
      <Fact name="Messages">{formatCount(message_count)}</Fact>
      <Fact name="Created">
        <Time at={created_at} />
      </Fact>
      {pairs.map(([key, value]) => (
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
    </Facts>
  );
}
