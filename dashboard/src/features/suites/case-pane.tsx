import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowLeft, Columns2, ListTree, X } from "lucide-react";
import { useEffect, useMemo, useRef } from "react";
import type { SuiteCase as CaseResult } from "../../../../server/domain/api-types/suite.ts";
import type { Divergence } from "../../../../server/domain/run-event.ts";
import { lastText } from "../../../../server/domain/run-input.ts";
import { versionQuery } from "../../entities/agent/agent-api.ts";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { VersionDiff } from "../../entities/agent/version-diff.tsx";
import { runQuery } from "../../entities/run/run-api.ts";
import type { LiveResult } from "../../entities/suite/suite-api.ts";
import { useKeys } from "../../hooks/use-keys.ts";
import { formatCost, formatCount, plural } from "../../lib/format.ts";
import { jsonText } from "../../lib/json-text.ts";
import { diffLines, diffWords } from "../../lib/text-diff.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { CopyButton } from "../../ui/data/copy-button.tsx";
import { Description, DescriptionList } from "../../ui/data/description-list.tsx";
import { DiffText } from "../../ui/data/diff-text.tsx";
import { Markdown } from "../../ui/data/markdown.tsx";
import { StatusPill } from "../../ui/data/status-pill.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { WireLine } from "../../ui/feedback/error-note.tsx";
import { buttonClass } from "../../ui/forms/button.tsx";
import type { JoinedCase } from "./cases.ts";
import type { SuiteSearch } from "./read-suites-search.ts";
import { CasePill, LivePill } from "./suite-pill.tsx";
import { caseLine, placeWords } from "./suite-words.ts";

const icon = { "aria-hidden": true, className: "size-4", strokeWidth: 1.5 } as const;

/** One case: the recorded run, its divergences and its live continuation. */
export function CasePane({ suiteId, shown, search }: { suiteId: string; shown: JoinedCase; search: SuiteSearch }) {
  const { run_id, agent_id, pinned, result } = shown;
  const agent = useAgentName(agent_id);
  const close = { to: "/suites/$suiteId", params: { suiteId }, search: { ...search, case: undefined } } as const;
  const leave = () => document.querySelector<HTMLElement>("[data-close-case]")?.click();
  useKeys({ Escape: leave });
  const back = useRef<HTMLAnchorElement>(null);
  // On narrow pages the case replaces the list, so the focused row is hidden.
  useEffect(() => {
    if (document.activeElement?.checkVisibility() === false) back.current?.focus();
  }, []);
  return (
    <section
      aria-label="Case"
      className="relative flex min-w-0 flex-1 flex-col gap-4 px-4 py-3 rail:px-5 wide:min-h-0 wide:overflow-y-auto wide:border-l wide:border-line"
    >
      <Link
        ref={back}
        {...close}
        className={`${buttonClass({ kind: "ghost", size: "sm" })} -ml-2 self-start wide:hidden`}
      >
        <ArrowLeft {...icon} />
        Cases
      </Link>
      <header className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <h2 className="cut min-w-0 text-md" title={agent}>
          {agent}
        </h2>
        <CasePill status={result?.status} />
        <Link
          {...close}
          data-close-case
          aria-label="Close the case"
          className={`${buttonClass({ kind: "ghost", size: "icon-sm" })} ml-auto max-wide:hidden`}
        >
          <X {...icon} />
        </Link>
        <DescriptionList>
          <Description name="Run">
            <Link to="/runs/$runId" params={{ runId: run_id }} className="cut text-accent hover:underline">
              <code>{run_id}</code>
            </Link>
            <CopyButton text={run_id} what="run id" />
          </Description>
          {pinned && (
            <Description name="Status">
              <StatusPill status={pinned.status} />
            </Description>
          )}
          {result?.agent_version != null && (
            <Description name="Replayed with">
              <Link to="/agents/$agentId" params={{ agentId: agent_id }} className="text-accent hover:underline">
                version {result.agent_version}
              </Link>
            </Description>
          )}
        </DescriptionList>
        <div className="flex flex-wrap gap-2">
          <Link to="/runs/$runId" params={{ runId: run_id }} className={buttonClass({ size: "sm" })}>
            <ListTree {...icon} />
            Open the trace
          </Link>
        </div>
      </header>
      <Asked runId={run_id} head={pinned?.input ?? null} />
      <Outcome result={result} runId={run_id} />
      {result?.divergences.some(({ kind }) => kind === "prompt") && result.agent_version !== null && (
        <ChangedAgent runId={run_id} agentId={agent_id} version={result.agent_version} />
      )}
      {result?.live && <WentOn live={result.live} runId={run_id} before={pinned?.output ?? null} />}
      {pinned && (
        <section aria-label="Recorded output" className="flex min-w-0 flex-col gap-1.5">
          <h3 className="font-strong">Recorded output</h3>
          <Text text={pinned.output} none="No output." />
        </section>
      )}
    </section>
  );
}

/** Input of the case; the truncated one until the run has loaded. */
function Asked({ runId, head }: { runId: string; head: string | null }) {
  const { data: run } = useQuery(runQuery(useWorkspace(), runId));
  const input = run ? lastText(run.input) : head;
  if (input === null) return null;
  return (
    <section aria-label="Input" className="flex min-w-0 flex-col gap-1.5">
      <h3 className="font-strong">Input</h3>
      <Text text={input} none="No input" />
    </section>
  );
}

/** For a diverged prompt: changes of the agent since the recorded run. */
function ChangedAgent({ runId, agentId, version }: { runId: string; agentId: string; version: number }) {
  const at = useWorkspace();
  const then = useQuery(runQuery(at, runId)).data?.agent_version;
  const isOther = then !== undefined && then !== version;
  const before = useQuery({ ...versionQuery(at, agentId, then ?? version), enabled: isOther }).data;
  const after = useQuery({ ...versionQuery(at, agentId, version), enabled: isOther }).data;
  if (!before || !after) return null;
  return (
    <section aria-label="What changed in the prompt" className="flex min-w-0 flex-col gap-1.5">
      <h3 className="font-strong">
        What changed in the prompt
        <span className="font-normal text-muted">
          {" "}
          · version {before.version} to {after.version}
        </span>
      </h3>
      <VersionDiff before={before} after={after} />
    </section>
  );
}

function Text({ text, none }: { text: string | null; none: string }) {
  if (!text) return <p className="text-muted">{none}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard.
    <div tabIndex={0} className="max-h-60 overflow-y-auto">
      <Markdown text={text} />
    </div>
  );
}

function Outcome({ result, runId }: { result: CaseResult | null; runId: string }) {
  if (!result) return <p className="text-muted">Not part of this suite run.</p>;
  const { status, error, divergences, divergences_count, matched_steps } = result;
  if (error)
    return (
      <Callout tone="bad">
        <b>The case could not be replayed</b>
        <p>{error.message}</p>
        <WireLine code={error.code} requestId={runId} />
      </Callout>
    );
  if (status !== "diverged") return <p className="text-muted">{caseLine(result)}.</p>;
  const hidden = divergences_count - divergences.length;
  return (
    <section aria-label="Divergences" className="flex min-w-0 flex-col gap-3">
      <h3 className="font-strong">
        {plural(divergences_count, "divergence")}
        <span className="font-normal text-muted"> · {plural(matched_steps, "step")} equal</span>
      </h3>
      {divergences.map((divergence, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order of the results never changes.
        <DivergenceCard key={index} divergence={divergence} runId={runId} />
      ))}
      {hidden > 0 && (
        <p className="text-xs text-muted">
          {formatCount(hidden)} more: “Verify replay” in the menu of its trace lists all.
        </p>
      )}
    </section>
  );
}

function WentOn({ live, runId, before }: { live: LiveResult; runId: string; before: string | null }) {
  const { run_id: fork, error, output, output_equal, diff, cost_usd, total_tokens } = live;
  return (
    <section aria-label="Live fork" className="flex min-w-0 flex-col gap-2">
      <h3 className="flex flex-wrap items-center gap-2 font-strong">
        Live fork
        <LivePill live={live} />
        {fork && (
          <span className="ml-auto flex gap-2">
            <Link to="/runs/$runId" params={{ runId: fork }} className={buttonClass({ size: "sm" })}>
              Open the fork
            </Link>
            <Link
              to="/runs/$runId/diff/$otherId"
              params={{ runId, otherId: fork }}
              className={buttonClass({ size: "sm" })}
            >
              <Columns2 {...icon} />
              Compare
            </Link>
          </span>
        )}
      </h3>
      {fork && (
        <DescriptionList>
          <Description name="Cost">{formatCost(cost_usd)}</Description>
          <Description name="Tokens">{formatCount(total_tokens)}</Description>
          {diff && (
            <Description name="Steps">
              {formatCount(diff.equal)} equal, {formatCount(diff.changed)} changed, {formatCount(diff.only_b)} new,{" "}
              {formatCount(diff.only_a)} missing
            </Description>
          )}
        </DescriptionList>
      )}
      {error && <p className="text-muted wrap-anywhere">{error.message}</p>}
      {output_equal === false && output !== null && <DiffText parts={diffWords(before ?? "", output)} />}
    </section>
  );
}

/** A divergence between replay and recording, with both values if they are short. */
function DivergenceCard({ divergence, runId }: { divergence: Divergence; runId: string }) {
  const { step_index, message, expected, actual } = divergence;
  const isShown = expected !== undefined || actual !== undefined;
  const isText = typeof expected === "string" && typeof actual === "string";
  const parts = useMemo(
    () => (isText ? diffWords(expected, actual) : diffLines(textOf(expected), textOf(actual))),
    [isText, expected, actual],
  );
  return (
    <article className="flex min-w-0 flex-col gap-2 rounded-md border border-warn-line p-3">
      <p className="wrap-anywhere">
        <Link
          to="/runs/$runId"
          params={{ runId }}
          search={{ step: step_index }}
          className="font-medium text-accent underline underline-offset-2"
        >
          {placeWords(divergence)}
        </Link>
        : {message}
      </p>
      {isShown && <DiffText mono={!isText} parts={parts} />}
    </article>
  );
}

const textOf = (value: unknown): string =>
  value === undefined ? "" : typeof value === "string" ? value : `${jsonText(value)}\n`;
