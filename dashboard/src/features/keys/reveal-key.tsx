import { useQuery } from "@tanstack/react-query";
import { Check } from "lucide-react";
import { newestAgentsQuery } from "../../entities/agent/agent-api.ts";
import { firstUseQuery, type KeyWithSecret } from "../../entities/key/key-api.ts";
import { formatDay } from "../../lib/format.ts";
import type { ApiRequest } from "../../lib/request-code.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { LiveDot } from "../../ui/data/stream-badge.tsx";
import { Time } from "../../ui/data/time.tsx";
import { SecretDialog } from "../../ui/dialogs/secret-dialog.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { ShowCode } from "../../ui/forms/show-code.tsx";

/** Shows a key's secret, which is available only once, with an example request. Reports the key's first use. */
export function RevealKey({ made, onStored }: { made: KeyWithSecret; onStored: () => void }) {
  const end = made.expires_at ? `expires ${formatDay(made.expires_at)}` : "never expires";
  return (
    <SecretDialog
      title="Save this key now"
      about={`${made.name} · ${made.scopes.join(" and ")} · ${end}. You will not see the secret again.`}
      secret={made.secret}
      variable="RUNNEL_API_KEY"
      onStored={onStored}
    >
      <Callout tone="warn">
        Keep it on a server. Anyone can read a key in a browser, a mobile app or a public repository.
      </Callout>
      <ShowCode name="first request" request={useExampleRequest(made)} secret={made.secret} />
      <FirstUse made={made} />
    </SecretDialog>
  );
}

/** Returns an example request that the key's scopes allow, with an existing agent. */
function useExampleRequest({ scopes, agent_ids }: KeyWithSecret): ApiRequest {
  const at = useWorkspace();
  const { data } = useQuery(newestAgentsQuery(at));
  const agent_id = agent_ids?.[0] ?? data?.data[0]?.id;
  if (!scopes.some((scope) => scope !== "read") || !agent_id) return { method: "GET", path: "/v1/me" };
  const body = { agent_id, input: "Hello", stream: true };
  return { method: "POST", path: "/v1/runs", body, stream: true };
}

function FirstUse({ made }: { made: KeyWithSecret }) {
  const at = useWorkspace();
  const { data } = useQuery(firstUseQuery(at, made.id));
  const lastUsedAt = data?.last_used_at;
  return (
    <p role="status" className="flex items-center gap-2 text-muted">
      {lastUsedAt ? (
        <>
          <Check aria-hidden className="size-4 shrink-0 text-ok" strokeWidth={2} />
          <span>
            <b className="text-ink">The first request arrived</b> <Time at={lastUsedAt} />
            {data.last_used_ip && ` from ${data.last_used_ip}`}.
          </span>
        </>
      ) : (
        <>
          <LiveDot />
          Waiting for the first request with this key
        </>
      )}
    </p>
  );
}
