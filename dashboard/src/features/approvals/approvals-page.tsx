import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Inbox, ListFilter } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { Approval } from "../../../../server/domain/api-types/run.ts";
import type { AnswerableNeeds, Decision } from "../../../../server/domain/run-event.ts";
import { ListHead } from "../../entities/crud/list-head.tsx";
import { usePermission } from "../../entities/session/use-may.ts";
import {
  type ApprovalsSearch,
  approvalApi,
  approvalsQuery,
  waitingRunsQuery,
} from "../../entities/tool-call/approval-api.ts";
import { useKeys } from "../../hooks/use-keys.ts";
import { useLiveChanges } from "../../hooks/use-live-changes.ts";
import { useRowKeys } from "../../hooks/use-row-keys.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Kbd } from "../../ui/data/kbd.tsx";
import { Pagination } from "../../ui/data/pagination.tsx";
import { LiveDot, LostBadge } from "../../ui/data/stream-badge.tsx";
import { SheetBar } from "../../ui/dialogs/sheet.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Skeleton } from "../../ui/feedback/skeleton.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Chip, choicesOf } from "../../ui/forms/chip.tsx";
import { ApprovalEntry } from "./approval-entry.tsx";
import { answerKey, type InboxEntry, mergeInbox } from "./keep-inbox.ts";

const needsWords: Record<AnswerableNeeds, string> = {
  approval: "Approval",
  output: "Client output",
  reconcile: "Interrupted call",
  elicitation: "Question",
};
const needsChoices = choicesOf(needsWords);

/** All calls that wait for a person, the longest waiting first. They are answered in place. */
export function ApprovalsPage({
  search,
  onSearch,
}: {
  search: ApprovalsSearch;
  onSearch: (search: ApprovalsSearch) => void;
}) {
  const at = useWorkspace();
  const body = useRef<HTMLDivElement>(null);
  const { page, stream, entries, takeOut } = useInbox(search);
  const { data: runs } = useQuery({ ...waitingRunsQuery(at), enabled: entries.length > 0 });
  const mayAnswer = usePermission("member");
  useRowKeys(body);
  const [pendingApprovals, setHeld] = useState<readonly string[]>([]);
  const release = (id: string) => setHeld((before) => before.filter((each) => each !== id));
  useKeys({
    a: () => {
      const id = focusedEntry(body.current, "approve")?.entry.dataset.entry;
      if (id) setHeld((before) => [...before.filter((each) => each !== id), id]);
    },
    r: () => focusedEntry(body.current, "reject")?.button.click(),
    u: () => setHeld((before) => before.slice(0, -1)),
  });
  const leave = (call: Approval) => {
    focusNext(body.current, call.id);
    takeOut(call);
    release(call.id);
  };
  return (
    <>
      <ListHead title="Approvals">
        <LostBadge stream={stream} />
        {stream === "open" && (
          <span className="inline-flex items-center text-xs text-muted">
            <LiveDot /> Auto-refresh
          </span>
        )}
      </ListHead>
      <SheetBar>
        <Chip
          name="Needs"
          value={search.needs}
          choices={needsChoices}
          onChange={(needs) => onSearch(needs ? { needs } : {})}
        />
        {mayAnswer && (
          <span className="ml-auto hidden items-center gap-1 text-xs text-muted wide:inline-flex">
            <Kbd>j</Kbd> <Kbd>k</Kbd> next, previous <Kbd>a</Kbd> approve <Kbd>u</Kbd> undo <Kbd>r</Kbd> reject
          </span>
        )}
      </SheetBar>
      <div ref={body} className="min-h-0 flex-1 overflow-y-auto">
        <ErrorNote
          inset
          title={page.data ? "The list is not up to date" : "Approvals cannot be shown"}
          error={page.error}
          onRetry={() => void page.refetch()}
        />
        {page.isPending && !page.error && <InboxSkeleton />}
        <h2 className="sr-only">Waiting calls</h2>
        {entries.length > 0 && (
          <ul aria-label="Waiting calls" className="mx-auto flex max-w-180 flex-col gap-6 px-4 py-5 rail:px-5">
            {entries.map(({ call, isGone }) => (
              <ApprovalEntry
                key={`${call.id} ${call.needs}`}
                call={call}
                run={runs?.data.find(({ id }) => id === call.run_id)}
                isGone={isGone}
                isHeld={pendingApprovals.includes(call.id)}
                onRelease={() => release(call.id)}
                onTakeOut={() => leave(call)}
              />
            ))}
          </ul>
        )}
        {page.data && entries.length === 0 && <EmptyInbox search={search} onClear={() => onSearch({})} />}
      </div>
      <Pagination
        noun="call"
        page={page.data}
        search={search}
        oldestFirst
        onPage={(place) => onSearch({ needs: search.needs, ...place })}
      />
    </>
  );
}

function EmptyInbox({ search, onClear }: { search: ApprovalsSearch; onClear: () => void }) {
  if (search.needs || search.after || search.before)
    return (
      <EmptyState icon={ListFilter} title="Nothing is waiting">
        <p className="max-w-[46ch] text-muted">
          {search.needs
            ? `No call needs “${needsWords[search.needs].toLowerCase()}” now.`
            : "All calls of this page are resolved."}
        </p>
        <Button onClick={onClear}>{search.needs ? "Clear filter" : "Show the oldest"}</Button>
      </EmptyState>
    );
  return (
    <EmptyState icon={Inbox} title="Nothing is waiting for you">
      <p className="max-w-[50ch] text-muted">
        Calls that need approval, calls of client tools and calls interrupted by a crash appear here until they are
        resolved.
      </p>
    </EmptyState>
  );
}

function InboxSkeleton() {
  return (
    <div
      role="status"
      aria-label="Loading approvals"
      className="mx-auto flex max-w-180 flex-col gap-6 px-4 py-5 rail:px-5"
    >
      {[0, 1, 2].map((entry) => (
        <div key={entry} className="flex flex-col gap-3">
          <Skeleton className="w-1/2" />
          <Skeleton className="h-32 w-full rounded-md!" />
        </div>
      ))}
    </div>
  );
}

/**
 * Returns the focused entry and its button, or null if there is none. If no entry has the focus, focuses the first one
 * and returns null, so that a key never approves a call that the person has not seen.
 */
function focusedEntry(list: HTMLElement | null, act: Decision) {
  const entry = document.activeElement?.closest<HTMLElement>("[data-entry]");
  if (!entry) list?.querySelector<HTMLElement>("[data-row]")?.focus();
  const button = entry?.querySelector<HTMLElement>(`[data-act=${act}]`);
  return entry && button ? { entry, button } : null;
}

/** Moves the focus off an entry that is about to be removed, to the next or previous one. Focus elsewhere stays. */
function focusNext(list: HTMLElement | null, id: string): void {
  const entries = [...(list?.querySelectorAll<HTMLElement>("[data-entry]") ?? [])];
  const at = entries.findIndex((entry) => entry.dataset.entry === id);
  const active = document.activeElement;
  if (active !== document.body && !entries[at]?.contains(active)) return;
  const next = entries[at + 1] ?? entries[at - 1];
  next?.querySelector<HTMLElement>("[data-row]")?.focus();
}

interface InboxSnapshot {
  /** The query key and the response that the entries come from. */
  cacheKey: string;
  response: unknown;
  entries: InboxEntry<Approval>[];
}

/** Returns the waiting calls, updated live while the page is open. */
function useInbox(search: ApprovalsSearch) {
  const at = useWorkspace();
  const client = useQueryClient();
  const options = approvalsQuery(at, search);
  const page = useQuery(options);
  const stream = useLiveChanges(() => {
    void client.invalidateQueries(approvalApi.all(at));
  });
  const { projectId, mode } = at;
  // Refetch, so that the count in the sidebar matches the page.
  useEffect(() => void client.invalidateQueries(approvalApi.all({ projectId, mode })), [client, projectId, mode]);
  const [answered, setAnswered] = useState<ReadonlySet<string>>(new Set());
  const [snapshot, setKept] = useState<InboxSnapshot>({ cacheKey: "", response: undefined, entries: [] });
  const place = JSON.stringify(options.queryKey);
  let { entries } = snapshot;
  if (page.data && (snapshot.response !== page.data || snapshot.cacheKey !== place)) {
    entries = mergeInbox(snapshot.cacheKey === place ? snapshot.entries : [], page.data.data, answered);
    setKept({ cacheKey: place, response: page.data, entries });
  }
  const takeOut = (answeredCall: Approval) => {
    setAnswered((keys) => new Set([...keys, answerKey(answeredCall)]));
    setKept((now) => ({ ...now, entries: now.entries.filter(({ call }) => call.id !== answeredCall.id) }));
  };
  return { page, stream, entries: snapshot.cacheKey === place || page.data ? entries : [], takeOut } as const;
}
