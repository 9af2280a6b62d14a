import { ExternalLink, Plug } from "lucide-react";
import type { RequiredAuthorization } from "../../../../server/domain/required-action.ts";
import { useNow } from "../../hooks/use-now.ts";
import { formatElapsed } from "../../lib/format.ts";
import { CopyButton } from "../../ui/data/copy-button.tsx";
import { buttonClass } from "../../ui/forms/button.tsx";

/** A consent that a run waits for. The run goes on by itself once the user has given it. */
function ConsentCard({ authorization }: { authorization: RequiredAuthorization }) {
  const { name, user_id, url, expires_at, tool_calls } = authorization;
  const now = useNow(true);
  const remaining_ms = Date.parse(expires_at) - now;
  const calls = tool_calls.map((call) => call.name).join(", ");
  return (
    <article
      data-consent={authorization.oauth_client_id}
      className="flex min-w-0 flex-col gap-3 rounded-md border border-warn-line bg-surface p-3 ring-3 ring-warn-soft"
    >
      <header className="flex min-w-0 items-start gap-2">
        <Plug aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" strokeWidth={1.5} />
        <h3 className="min-w-0 flex-1 font-strong wrap-anywhere">Connect {name}</h3>
      </header>
      <p className="wrap-anywhere text-muted">
        {user_id === null
          ? `${calls} needs an account of the project. Opening the link connects the account of the person who signs in there.`
          : `${calls} acts as the user ${user_id}. Send the link to this user only: it connects the account of the person who goes on there.`}
      </p>
      {url !== null && (
        <div className="flex min-w-0 flex-wrap items-center gap-2">
          <a href={url} target="_blank" rel="noreferrer" className={buttonClass({ kind: "primary", size: "sm" })}>
            Connect {name}
            <ExternalLink aria-hidden className="size-3.5" strokeWidth={1.5} />
          </a>
          <CopyButton text={url} what="the link" />
        </div>
      )}
      <p className="text-xs text-muted">
        {remaining_ms > 0
          ? `The run goes on by itself. Without a consent it fails in ${formatElapsed(remaining_ms)}.`
          : "This request has expired."}
      </p>
    </article>
  );
}

/** The consents that a run waits for. */
export const ConsentCards = ({ authorizations }: { authorizations: readonly RequiredAuthorization[] | undefined }) =>
  authorizations?.map((one) => <ConsentCard key={`${one.oauth_client_id} ${one.user_id}`} authorization={one} />);
