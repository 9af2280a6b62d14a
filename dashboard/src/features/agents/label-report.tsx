import { useQuery } from "@tanstack/react-query";
import { newerVersion, type RollbackRule } from "../../../../server/domain/agent-label.ts";
import type { AgentLabel, AgentLabelReport } from "../../../../server/domain/api-types/label.ts";
import { labelReportQuery } from "../../entities/label/label-api.ts";
import { formatPercent, progressWords, ruleWords, sharesOf } from "../../entities/label/label-words.ts";
import { formatCost, formatCount, formatDuration, unknownText } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Card } from "../../ui/data/card.tsx";
import { NumberTable } from "../../ui/data/number-table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Skeleton } from "../../ui/feedback/skeleton.tsx";

type VersionReport = AgentLabelReport["versions"][number];

/** The numbers of the versions that a label holds, side by side. */
export function LabelReport({ label }: { label: AgentLabel }) {
  const { data, error, refetch } = useQuery(labelReportQuery(useWorkspace(), label));
  return (
    <Card
      title="Numbers"
      className="shrink-0"
      aside={
        data && (
          <span>
            Runs since <Time at={data.since} />
          </span>
        )
      }
    >
      {error && (
        <div className="p-4">
          <ErrorNote
            title={data ? "The numbers are not up to date" : "The numbers cannot be shown"}
            error={error}
            onRetry={() => void refetch()}
          />
        </div>
      )}
      {!data && !error && (
        <div aria-hidden className="flex flex-col gap-3 p-4">
          <Skeleton className="w-1/2" />
          <Skeleton className="w-1/3" />
        </div>
      )}
      {data && <ReportTable report={data} />}
      {label.rollback_on && <RuleState label={label} rule={label.rollback_on} report={data} />}
    </Card>
  );
}

const rows: [word: string, cell: (report: VersionReport) => string][] = [
  ["Part of the runs", ({ percent }) => formatPercent(percent)],
  ["Runs", ({ runs }) => formatCount(runs)],
  ["Completed", ({ completed }) => formatCount(completed)],
  ["Failed", ({ failed }) => formatCount(failed)],
  ["Failure rate", ({ failure_rate: rate }) => (rate === null ? unknownText : formatPercent(rate * 100))],
  ["Cancelled", ({ cancelled }) => formatCount(cancelled)],
  ["Median duration", ({ median_ms }) => formatDuration(median_ms)],
  ["Mean duration", ({ mean_ms }) => formatDuration(mean_ms)],
  ["Cost", (report) => (endedOf(report) === 0 ? unknownText : formatCost(report.cost_usd))],
  ["Cost per run", (report) => (endedOf(report) === 0 ? unknownText : formatCost(report.cost_usd / endedOf(report)))],
  ["Input tokens", ({ input_tokens }) => formatCount(input_tokens)],
  ["Output tokens", ({ output_tokens }) => formatCount(output_tokens)],
];

const endedOf = ({ completed, failed, cancelled }: VersionReport): number => completed + failed + cancelled;

function ReportTable({ report: { name, versions } }: { report: AgentLabelReport }) {
  const scores = [...new Set(versions.flatMap((version) => version.scores.map((score) => score.name)))];
  const scoreOf = (version: VersionReport, name: string): string => {
    const score = version.scores.find((each) => each.name === name);
    return score ? `${formatMean(score.mean)} (${formatCount(score.count)})` : unknownText;
  };
  return (
    <NumberTable
      label={`Numbers of ${name}`}
      columns={["Number", ...versions.map(({ version }) => `Version ${version}`)]}
      rows={[
        ...rows.map(([word, cell]) => ({ key: word, cells: [word, ...versions.map(cell)] })),
        ...scores.map((score) => ({
          key: `score ${score}`,
          cells: [
            <span key="name" className="cut block" title={`Mean of the score ${score}, and how many runs have it`}>
              Score {score}
            </span>,
            ...versions.map((version) => scoreOf(version, score)),
          ],
        })),
      ]}
    />
  );
}

const formatMean = (mean: number): string => mean.toLocaleString("en", { maximumFractionDigits: 3 });

/** The rule for automatic rollback, and how far its judgement has come. */
function RuleState({
  label,
  rule,
  report,
}: {
  label: AgentLabel;
  rule: RollbackRule;
  report: AgentLabelReport | undefined;
}) {
  const version = newerVersion(sharesOf(label));
  const judged = report?.versions.find((each) => each.version === version);
  return (
    <div className="border-t border-line bg-subtle px-4 py-2.5 text-xs text-muted wrap-anywhere">
      <p>
        <b className="font-strong text-ink">Rolls back automatically.</b> {ruleWords(rule, label)}
      </p>
      {judged && <p>{progressWords(rule, judged)}</p>}
    </div>
  );
}
