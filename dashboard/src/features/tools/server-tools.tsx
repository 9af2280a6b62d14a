import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { RefreshCw } from "lucide-react";
import type { Tool } from "../../../../server/resources/tools/schema.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { refreshTool, toolApi } from "../../entities/tool/tool-api.ts";
import { plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Time } from "../../ui/data/time.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Button, buttonClass } from "../../ui/forms/button.tsx";
import { FormSection } from "../../ui/forms/form-section.tsx";

/** Tools of an MCP server as last listed, and the error since, if any. */
export function ServerTools({ tool }: { tool: Tool }) {
  const at = useWorkspace();
  const may = usePermission("member");
  const client = useQueryClient();
  const refresh = useMutation({
    mutationFn: () => refreshTool(at, tool.id),
    onSuccess: (saved) => {
      toast("List refreshed", plural(saved.tools?.length ?? 0, "tool"));
      client.setQueryData(toolApi.one(at, saved.id).queryKey, saved);
    },
    onError: () => void client.invalidateQueries(toolApi.all(at)),
  });
  const { tools = [], skipped = [], listed_at, last_error } = tool;
  return (
    <FormSection
      title="The server's tools"
      about={
        listed_at ? (
          <>
            Listed <Time at={listed_at} />. A run refreshes the list when it is older than five minutes.
          </>
        ) : (
          "The server has not responded yet."
        )
      }
    >
      {last_error && !refresh.error && (
        <Callout tone="warn">
          {last_error.code === "authorization_required" && tool.auth ? (
            <>
              <b>No account is connected yet</b>
              <p>
                The server's tools are listed after the first consent.{" "}
                <Link
                  to="/oauth_clients/$oauthClientId"
                  params={{ oauthClientId: tool.auth.oauth_client_id }}
                  className="text-accent underline underline-offset-2"
                >
                  Connect an account
                </Link>
              </p>
            </>
          ) : (
            <>
              <b>The server did not respond last time</b>
              <p>{last_error.message}</p>
              <code className="text-muted">{last_error.code}</code>
            </>
          )}
        </Callout>
      )}
      <ErrorNote title="The list was not refreshed" error={refresh.error} />
      {tools.length > 0 && (
        <ul aria-label="Tools of the server" className="max-h-100 overflow-y-auto rounded-md border border-line">
          {tools.map(({ name, description }) => (
            <li
              key={name}
              className="flex min-h-10 items-center gap-3 border-b border-line-soft px-3 py-1.5 last:border-b-0"
            >
              <span className="min-w-0 flex-1">
                <span className="font-medium wrap-anywhere">{name}</span>
                {description && <span className="cut block text-xs text-muted">{description}</span>}
              </span>
              <Link
                to="/tools/$toolId"
                params={{ toolId: tool.id }}
                search={{ tab: "test", tool: name }}
                aria-label={`Try ${name}`}
                className={buttonClass({ kind: "ghost", size: "sm" })}
              >
                Try
              </Link>
            </li>
          ))}
        </ul>
      )}
      {skipped.length > 0 && (
        <details>
          <summary className="w-fit text-muted hover:text-ink">{plural(skipped.length, "tool")} left out</summary>
          <ul className="pt-1 text-xs">
            {skipped.map(({ name, reason }) => (
              <li key={name} className="py-1 wrap-anywhere">
                <b>{name}</b>: {reason}
              </li>
            ))}
          </ul>
        </details>
      )}
      {may && (
        <div>
          <Button disabled={refresh.isPending} onClick={() => refresh.mutate()}>
            <RefreshCw aria-hidden className="size-4" strokeWidth={1.5} />
            {refresh.isPending ? "Contacting the server" : "Refresh list"}
          </Button>
        </div>
      )}
    </FormSection>
  );
}
