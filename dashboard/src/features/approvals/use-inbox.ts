import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Approval } from "../../../../server/wire/run.ts";
import { type ApprovalsSearch, approvalApi, approvalsQuery } from "../../entities/call/approval-api.ts";
import { useLiveChanges } from "../../lib/use-live-changes.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { answerKey, type Entry, keepInbox } from "./keep-inbox.ts";

interface Kept {
  /** Of which page and answer of the server the entries are. */
  place: string;
  from: unknown;
  entries: Entry<Approval>[];
}

/** What waits, kept up to date while it is looked at. */
export function useInbox(search: ApprovalsSearch) {
  const at = useWorkspace();
  const client = useQueryClient();
  const options = approvalsQuery(at, search);
  const page = useQuery(options);
  const stream = useLiveChanges(() => {
    void client.invalidateQueries(approvalApi.all(at));
  });
  const { projectId, mode } = at;
  // The count in the side bar is to say what the page shows.
  useEffect(() => void client.invalidateQueries(approvalApi.all({ projectId, mode })), [client, projectId, mode]);
  const [answered, setAnswered] = useState<ReadonlySet<string>>(new Set());
  const [kept, setKept] = useState<Kept>({ place: "", from: undefined, entries: [] });
  const place = JSON.stringify(options.queryKey);
  let { entries } = kept;
  if (page.data && (kept.from !== page.data || kept.place !== place)) {
    entries = keepInbox(kept.place === place ? kept.entries : [], page.data.data, answered);
    setKept({ place, from: page.data, entries });
  }
  const takeOut = (done: Approval) => {
    setAnswered((keys) => new Set([...keys, answerKey(done)]));
    setKept((now) => ({ ...now, entries: now.entries.filter(({ call }) => call.id !== done.id) }));
  };
  return { page, stream, entries: kept.place === place || page.data ? entries : [], takeOut } as const;
}
