import { useQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import { ArrowLeft } from "lucide-react";
import { useRef, useState } from "react";
import type { AgentLabel } from "../../../../server/domain/api-types/label.ts";
import type { Agent, AgentVersion } from "../../../../server/resources/agents/schema.ts";
import { versionQuery, versionsQuery } from "../../entities/agent/agent-api.ts";
import { changedFields, fieldWords } from "../../entities/agent/agent-draft.ts";
import { VersionDiff } from "../../entities/agent/version-diff.tsx";
import { labelsQuery } from "../../entities/label/label-api.ts";
import { formatPercent, sharesOf } from "../../entities/label/label-words.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { useRowKeys } from "../../hooks/use-row-keys.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { TableSkeleton } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Select } from "../../ui/forms/select.tsx";
import type { AgentSearch } from "./agent-search.ts";
import { type LabelAct, LabelDialogs } from "./label-acts.tsx";
import { RestoreVersion } from "./restore-version.tsx";
import { useFocusPane } from "./use-focus-pane.ts";

interface VersionsProps {
  agent: Agent;
  search: AgentSearch;
  onSearch: (search: AgentSearch) => void;
}

/** An agent's versions: the list on the left, the differences between two of them on the right. */
export function AgentVersions({ agent, search, onSearch }: VersionsProps) {
  const at = useWorkspace();
  const may = usePermission("member");
  const page = useQuery(versionsQuery(at, agent.id));
  const versions = page.data?.data;
  const selectedVersion = versions?.find(({ version }) => version === search.version) ?? versions?.[0];
  const before =
    versions?.find(({ version }) => version === search.against && version !== selectedVersion?.version) ??
    versions?.find(({ version }) => version === (selectedVersion?.version ?? 0) - 1);
  const [fullSelected, fullBase] = [useFullVersion(agent.id, selectedVersion), useFullVersion(agent.id, before)];
  const areLoaded = fullSelected.version !== null && fullBase.version !== null;
  const body = useRef<HTMLDivElement>(null);
  useFocusPane(body, search.version, "data-version");
  useRowKeys(body);
  const [restoring, setRestoring] = useState<AgentVersion | null>(null);
  const [act, setAct] = useState<LabelAct | null>(null);
  const labels = useQuery(labelsQuery(at, agent.id)).data?.data ?? [];
  const error = page.error ?? fullSelected.error ?? fullBase.error;
  if (error)
    return (
      <div className="px-4 pt-3 rail:px-5">
        <ErrorNote title="The versions cannot be shown" error={error} onRetry={() => void page.refetch()} />
      </div>
    );
  if (!versions) return <TableSkeleton />;
  const show = (version: number, against?: number) => onSearch({ tab: "versions", version, against });
  // On a phone, only one of the two is visible: the list, or the selected version.
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
            labels={labelsAt(labels, version.version)}
            shown={version === selectedVersion}
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
        {selectedVersion && (
          <div className="flex flex-wrap items-end gap-x-3 gap-y-2">
            <h2 tabIndex={-1} className="grow text-md leading-(--control) max-wide:basis-full">
              Version {selectedVersion.version}
              {before ? ` against version ${before.version}` : ", the first"}
            </h2>
            {versions.length > 1 && (
              <div className="w-40 max-rail:grow">
                <Select
                  label="Compare with"
                  value={String(before?.version ?? "")}
                  choices={versions
                    .filter(({ version }) => version !== selectedVersion.version)
                    .map(({ version }) => ({ value: String(version), label: `Version ${version}` }))}
                  onChoose={(against) => show(selectedVersion.version, Number(against))}
                />
              </div>
            )}
            {may && (
              <Button
                onClick={() => setAct({ kind: "create", shares: [{ version: selectedVersion.version, percent: 100 }] })}
              >
                Set label
              </Button>
            )}
            {may && selectedVersion.version !== agent.version && (
              <Button disabled={!fullSelected.version} onClick={() => setRestoring(fullSelected.version ?? null)}>
                Restore version {selectedVersion.version}
              </Button>
            )}
          </div>
        )}
        {areLoaded && fullSelected.version && (
          <VersionDiff
            key={`${selectedVersion?.version} ${before?.version}`}
            before={fullBase.version ?? null}
            after={fullSelected.version}
          />
        )}
      </section>
      <LabelDialogs
        agent={agent}
        act={act}
        onAct={setAct}
        onSet={({ name }) => onSearch({ tab: "releases", label: name })}
      />
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

/** The complete form of a listed version, which may be truncated: null while it loads, undefined if there is none. */
function useFullVersion(agentId: string, versionSummary: AgentVersion | undefined) {
  const isCut = versionSummary?.truncated !== undefined;
  const fullVersion = useQuery({
    ...versionQuery(useWorkspace(), agentId, versionSummary?.version ?? 0),
    enabled: isCut,
  });
  return { version: isCut ? (fullVersion.data ?? null) : versionSummary, error: fullVersion.error };
}

function VersionEntry({
  version,
  before,
  current,
  labels,
  shown,
  onShow,
}: {
  version: AgentVersion;
  before: AgentVersion | undefined;
  current: boolean;
  /** Labels that hold the version, in words. */
  labels: readonly string[];
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
        {labels.length > 0 && (
          <span className="mt-1 flex w-full min-w-0 flex-wrap gap-1" title={labels.join("\n")}>
            <span className="sr-only">Labels: </span>
            {labels.slice(0, shownLabels).map((label) => (
              <Badge key={label}>
                <span className="cut max-w-40">{label}</span>
              </Badge>
            ))}
            {labels.length > shownLabels && <Badge>+{labels.length - shownLabels}</Badge>}
          </span>
        )}
      </button>
    </li>
  );
}

const shownLabels = 3;

/** Returns the labels that hold a version, with their percents if they split. */
const labelsAt = (labels: readonly AgentLabel[], version: number): string[] =>
  labels.flatMap((label) =>
    sharesOf(label)
      .filter((share) => share.version === version)
      .map(({ percent }) => (percent === 100 ? label.name : `${label.name} ${formatPercent(percent)}`)),
  );
