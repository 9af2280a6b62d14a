import { useQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import { ArrowLeft } from "lucide-react";
import { type RefObject, useEffect, useRef, useState } from "react";
import type { Agent, AgentVersion } from "../../../../server/agents/schema.ts";
import { versionQuery, versionsQuery } from "../../entities/agent/agent-api.ts";
import { changedFields, fieldWords } from "../../entities/agent/agent-draft.ts";
import { VersionDiff } from "../../entities/agent/version-diff.tsx";
import { useMay } from "../../entities/session/use-may.ts";
import { useRowKeys } from "../../lib/use-row-keys.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Select } from "../../ui/select.tsx";
import { TableSkeleton } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import type { AgentSearch } from "./agent-search.ts";
import { RestoreVersion } from "./restore-version.tsx";

interface VersionsProps {
  agent: Agent;
  search: AgentSearch;
  onSearch: (search: AgentSearch) => void;
}

/** What an agent was: its versions on the left, what is different between two of them on the right. */
export function AgentVersions({ agent, search, onSearch }: VersionsProps) {
  const at = useWorkspace();
  const may = useMay("member");
  const page = useQuery(versionsQuery(at, agent.id));
  const versions = page.data?.data;
  const shown = versions?.find(({ version }) => version === search.version) ?? versions?.[0];
  const before =
    versions?.find(({ version }) => version === search.against && version !== shown?.version) ??
    versions?.find(({ version }) => version === (shown?.version ?? 0) - 1);
  const [wholeShown, wholeBefore] = [useWhole(agent.id, shown), useWhole(agent.id, before)];
  const isWhole = wholeShown.version !== null && wholeBefore.version !== null;
  const body = useRef<HTMLDivElement>(null);
  useFocusPane(body, search.version);
  useRowKeys(body);
  const [restoring, setRestoring] = useState<AgentVersion | null>(null);
  const error = page.error ?? wholeShown.error ?? wholeBefore.error;
  if (error)
    return (
      <div className="px-4 pt-3 rail:px-5">
        <ErrorNote title="The versions cannot be shown" error={error} onRetry={() => void page.refetch()} />
      </div>
    );
  if (!versions) return <TableSkeleton />;
  const show = (version: number, against?: number) => onSearch({ tab: "versions", version, against });
  // A phone shows one of the two: the list, or the version that was chosen.
  const isChosen = search.version !== undefined;
  return (
    <div
      ref={body}
      className="flex min-h-0 flex-1 flex-col overflow-y-auto rail:grid rail:grid-cols-[calc(var(--space-10)*6)_minmax(0,1fr)] rail:overflow-hidden wide:grid-cols-[calc(var(--space-10)*8)_minmax(0,1fr)]"
    >
      <ol
        aria-label="Versions"
        className={clsx("rail:overflow-y-auto rail:border-r rail:border-line", isChosen && "max-rail:hidden")}
      >
        {versions.map((version, i) => (
          <VersionEntry
            key={version.version}
            version={version}
            before={versions[i + 1]}
            current={version.version === agent.version}
            shown={version === shown}
            onShow={() => show(version.version)}
          />
        ))}
        {page.data?.has_more && (
          <li className="px-4 py-2 text-xs text-muted wrap-anywhere rail:px-5">
            Older versions: <code>GET /v1/agents/{agent.id}/versions</code>
          </li>
        )}
      </ol>
      <section
        aria-label="What changed"
        className={clsx(
          "flex min-w-0 flex-col gap-4 px-4 py-4 rail:overflow-y-auto rail:px-5",
          !isChosen && "max-rail:hidden",
        )}
      >
        <Button kind="ghost" className="-ml-2 self-start rail:hidden" onClick={() => onSearch({ tab: "versions" })}>
          <ArrowLeft aria-hidden className="size-4" strokeWidth={1.5} />
          All versions
        </Button>
        {shown && (
          <div className="flex flex-wrap items-end gap-x-3 gap-y-2">
            <h2 tabIndex={-1} className="grow text-md leading-(--control) max-wide:basis-full">
              Version {shown.version}
              {before ? ` against version ${before.version}` : ", the first"}
            </h2>
            {versions.length > 1 && (
              <div className="w-40 max-rail:grow">
                <Select
                  label="Compare with"
                  value={String(before?.version ?? "")}
                  choices={versions
                    .filter(({ version }) => version !== shown.version)
                    .map(({ version }) => ({ value: String(version), label: `Version ${version}` }))}
                  onChoose={(against) => show(shown.version, Number(against))}
                />
              </div>
            )}
            {may && shown.version !== agent.version && (
              <Button disabled={!wholeShown.version} onClick={() => setRestoring(wholeShown.version ?? null)}>
                Restore version {shown.version}
              </Button>
            )}
          </div>
        )}
        {isWhole && wholeShown.version && (
          <VersionDiff
            key={`${shown?.version} ${before?.version}`}
            before={wholeBefore.version ?? null}
            after={wholeShown.version}
          />
        )}
      </section>
      {restoring && (
        <RestoreVersion
          agent={agent}
          version={restoring}
          onClose={() => setRestoring(null)}
          onRestored={() => onSearch({ tab: "versions" })}
        />
      )}
    </div>
  );
}

/** A version of the list with all that it says: null while that is on its way, undefined where there is none. */
function useWhole(agentId: string, listed: AgentVersion | undefined) {
  const isCut = listed?.truncated !== undefined;
  const whole = useQuery({ ...versionQuery(useWorkspace(), agentId, listed?.version ?? 0), enabled: isCut });
  return { version: isCut ? (whole.data ?? null) : listed, error: whole.error };
}

/** Where the one pane takes the place of the other, the focus goes with it: to what was chosen, and back to its entry. */
function useFocusPane(body: RefObject<HTMLElement | null>, version: number | undefined): void {
  const last = useRef(version);
  useEffect(() => {
    const left = version === undefined ? `[data-version="${last.current}"]` : "h2";
    last.current = version;
    if (!document.activeElement?.checkVisibility()) body.current?.querySelector<HTMLElement>(left)?.focus();
  }, [body, version]);
}

function VersionEntry({
  version,
  before,
  current,
  shown,
  onShow,
}: {
  version: AgentVersion;
  before: AgentVersion | undefined;
  current: boolean;
  shown: boolean;
  onShow: () => void;
}) {
  const words = before && fieldWords(changedFields(before, version));
  const same = version.truncated ? "the rest of a long text" : "nothing that is shown";
  return (
    <li>
      <button
        type="button"
        data-row
        data-version={version.version}
        aria-pressed={shown}
        onClick={onShow}
        className={clsx(
          "flex w-full flex-col border-b border-line-soft px-4 py-2 text-left rail:px-5",
          shown ? "bg-accent-soft" : "hover:bg-hover",
        )}
      >
        <span className="flex w-full items-center gap-2">
          <span className="font-strong">Version {version.version}</span>
          {current && <Badge>current</Badge>}
          <span className="ml-auto text-xs text-muted">
            <Time at={version.created_at} />
          </span>
        </span>
        <span className="text-xs text-muted">
          {words ? `Changed: ${words.join(", ") || same}` : version.version === 1 ? "Created" : "–"}
        </span>
      </button>
    </li>
  );
}
