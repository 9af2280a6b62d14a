import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { OpenSession } from "../../../../server/domain/api-types/console.ts";
import { endOtherSessions, endSession, sessionsQuery } from "../../entities/session/account-api.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { Time } from "../../ui/data/time.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Skeleton } from "../../ui/feedback/skeleton.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Button } from "../../ui/forms/button.tsx";
import { browserName } from "./browser-name.ts";

/** The person's sessions. Each of the others can be ended, and all of them at once. */
export function SessionList() {
  const client = useQueryClient();
  const list = useQuery(sessionsQuery);
  const reread = () => client.invalidateQueries(sessionsQuery);
  const ending = useMutation({ mutationFn: endSession, onSuccess: reread });
  const endingOthers = useMutation({
    mutationFn: endOtherSessions,
    onSuccess: async ({ ended }) => {
      toast(ended === 1 ? "1 session ended" : `${ended} sessions ended`);
      await reread();
    },
  });
  const error = list.error ?? ending.error ?? endingOthers.error;
  const others = list.data?.filter(({ current }) => !current).length ?? 0;
  return (
    <div className="flex flex-col items-start gap-4">
      <ErrorNote
        title={list.error ? "The sessions cannot be shown" : "The session was not ended"}
        error={error}
        onRetry={list.error ? () => void list.refetch() : undefined}
      />
      {list.isPending && <Skeleton className="w-full max-w-120" />}
      {list.data && (
        <ul aria-label="Sessions" className="w-full">
          {list.data.map((session) => (
            <SessionEntry
              key={session.id}
              session={session}
              busy={ending.isPending}
              onEnd={() => ending.mutate(session.id)}
            />
          ))}
        </ul>
      )}
      {others > 0 && (
        <Button disabled={endingOthers.isPending} onClick={() => endingOthers.mutate()}>
          End all other sessions
        </Button>
      )}
    </div>
  );
}

interface SessionEntryProps {
  session: OpenSession;
  busy: boolean;
  onEnd: () => void;
}

function SessionEntry({ session, busy, onEnd }: SessionEntryProps) {
  const { user_agent, ip, created_at, last_seen_at, current } = session;
  const name = browserName(user_agent);
  return (
    <li className="flex flex-wrap items-center gap-2 border-t border-line-soft py-2.5 first:border-t-0 first:pt-0">
      <div className="min-w-0 flex-1">
        <div className="flex items-center gap-2 font-medium">
          <span className="cut" title={user_agent ?? undefined}>
            {name}
          </span>
          {current && <Badge>this one</Badge>}
        </div>
        <div className="text-xs text-muted">
          {ip ?? "Unknown address"} · signed in <Time at={created_at} /> · seen <Time at={last_seen_at} />
        </div>
      </div>
      {!current && (
        <Button
          kind="danger-quiet"
          size="sm"
          disabled={busy}
          aria-label={`End the session of ${name}${ip ? ` at ${ip}` : ""}`}
          onClick={onEnd}
        >
          End
        </Button>
      )}
    </li>
  );
}
