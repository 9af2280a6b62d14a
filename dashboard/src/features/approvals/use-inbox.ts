import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Approval } from "../../../../server/domain/api-types/run.ts";
import { type ApprovalsSearch, approvalApi, approvalsQuery } from "../../entities/tool-call/approval-api.ts";
import { useLiveChanges } from "../../hooks/use-live-changes.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { answerKey, type InboxEntry, mergeInbox } from "./keep-inbox.ts";

interface InboxSnapshot {
  /** The query key and the response that the entries come from. */
  cacheKey: string;
  response: unknown;
  entries: InboxEntry<Approval>[];
}

/** Returns the waiting calls, updated live while the page is open. */
export function useInbox(search: ApprovalsSearch) {
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
