import type { Cell } from "../../domain/api-types/alert.ts";
import type { WebhookEvent } from "../../domain/api-types/enums.ts";
import { usdOf } from "../../domain/cost.ts";
import type { ProjectSettings } from "../../domain/project-settings.ts";
import { type Environment, environments } from "../../domain/scope.ts";
import { timestamp } from "../../domain/time.ts";
import type { BudgetSpending } from "../../resources/usage/store.ts";
import { onlyRow } from "../../storage/db/only-row.ts";
import type { Db } from "../../storage/db/open.ts";
import type { Failover } from "../../storage/replication/lease.ts";
import { type AlertRule, thresholds } from "./rules.ts";

/** A problem found by the checks. */
export interface Finding {
  rule: AlertRule;
  project_id: string | null;
  environment: Environment | null;
  subject: string | null;
  detail: string;
  /** Additional webhook event, sent when it is first found. */
  event?: { type: WebhookEvent; object: Cell };
}

export interface LastBackup {
  /** Time of the newest backup; before there is one, the time since when backups are scheduled. */
  made_ms(): number;
  most_ms: number;
}

/** Data sources of the checks. */
export interface Sources {
  db: Db;
  projects(): { id: string; settings: ProjectSettings }[];
  spentOn(scope: { project_id: string; environment: Environment }, day: string): BudgetSpending;
  /** Free and total bytes of the database's disk; null if it is in memory. */
  disk(): { free: number; size: number } | null;
  /** Expiry time of the server's certificate; null if it has none. */
  certificateEnds: () => number | null;
  /** Newest scheduled backup and its maximum age; null if none are scheduled. */
  lastBackup: LastBackup | null;
  /** The failover by which this process came to lead its cell; null if there was none. */
  failover: Failover | null;
  now: () => number;
}

const day_ms = 86_400_000;
const hour_ms = 3_600_000;
// Bounds a check, because a busy server has many runs per hour.
const readMost = 1000;

/** Checks all alert conditions. Reads only indexes and a few rows of each. */
export function createChecks({ db, projects, spentOn, disk, certificateEnds, lastBackup, failover, now }: Sources) {
  const { sqlite } = db;
  const selectEnded = sqlite.query<{ ended: number; failed: number }, [string, string, number]>(
    `SELECT count(*) AS ended, coalesce(sum(status = 'failed'), 0) AS failed FROM (
       SELECT status FROM runs WHERE project_id = ? AND environment = ? AND (summary IS NULL) = 1 AND ended_at_ms >= ?
       ORDER BY ended_at_ms DESC LIMIT ${readMost})`,
  );
  const selectQueued = sqlite.query<{ id: string; since: number }, [string, string]>(
    `SELECT id, status_since_ms AS since FROM runs WHERE project_id = ? AND environment = ? AND status = 'queued'
     ORDER BY id LIMIT 1`,
  );
  const selectDead = sqlite.query<{ id: string; disabled_reason: string }, [string, string]>(
    `SELECT id, disabled_reason FROM webhooks WHERE project_id = ? AND environment = ? AND run_id IS NULL
     AND deleted_at_ms IS NULL AND disabled_reason IN ('gone', 'failing')`,
  );

  function ofEnvironment(project_id: string, settings: ProjectSettings, environment: Environment): Finding[] {
    const toFinding = (rule: AlertRule, detail: string, subject: string | null = null): Finding => ({
      rule,
      project_id,
      environment,
      subject,
      detail,
    });
    const findings: Finding[] = [];
    const budgetShare = shareOf(settings.budget_per_day, () => spentOn({ project_id, environment }, dayAt(now())));
    for (const [rule, minShare] of [
      ["budget_50", 0.5],
      ["budget_80", 0.8],
      ["budget_100", 1],
    ] as const)
      if (budgetShare && budgetShare.share >= minShare) findings.push(toFinding(rule, budgetShare.detail));
    const { ended, failed } = onlyRow(selectEnded.get(project_id, environment, now() - hour_ms));
    if (ended >= thresholds.failed_least && failed / ended >= thresholds.failed_share)
      findings.push(toFinding("failure_rate", `${failed} of ${ended} runs failed within an hour.`));
    const queued = selectQueued.get(project_id, environment);
    if (queued && now() - queued.since > thresholds.queued_ms)
      findings.push(
        toFinding("queue_stuck", `${queued.id} has waited for ${Math.floor((now() - queued.since) / 60_000)} minutes.`),
      );
    for (const { id, disabled_reason } of selectDead.all(project_id, environment))
      findings.push(toFinding("webhook_dead", `${id} was disabled: ${disabled_reason}.`, id));
    return findings;
  }

  function ofServer(): Finding[] {
    const found = (rule: AlertRule, detail: string): Finding => ({
      rule,
      project_id: null,
      environment: null,
      subject: null,
      detail,
    });
    const findings: Finding[] = [];
    const room = disk();
    if (room && room.free < Math.min(thresholds.free_bytes, room.size * thresholds.free_share))
      findings.push(found("disk_low", `${(room.free / 1e9).toFixed(1)} GB are free.`));
    const ends = certificateEnds();
    const left_days = ends === null ? Number.POSITIVE_INFINITY : Math.floor((ends - now()) / day_ms);
    if (left_days < thresholds.certificate_days)
      findings.push(found("certificate_expiring", `${left_days} days are left.`));
    const old_ms = lastBackup ? now() - lastBackup.made_ms() : 0;
    if (lastBackup && old_ms > lastBackup.most_ms)
      findings.push(found("backup_old", `None was made for ${Math.floor(old_ms / hour_ms)} hours.`));
    if (failover && now() - failover.led_ms < thresholds.failover_ms) findings.push(ofFailover(failover));
    return findings;
  }

  return (): Finding[] => [
    ...projects().flatMap(({ id, settings }) => environments.flatMap((each) => ofEnvironment(id, settings, each))),
    ...ofServer(),
  ];
}

function ofFailover({ cell, epoch, leader, previous_leader, lease_ended_ms, led_ms }: Failover): Finding {
  const [lease_ended_at, led_at] = [timestamp(lease_ended_ms), timestamp(led_ms)];
  return {
    rule: "cell_failover",
    project_id: null,
    environment: null,
    subject: `${cell}, epoch ${epoch}`, // The epoch is included, so that each failover opens an alert of its own.
    detail: `${leader} leads "${cell}" since ${led_at}: ${previous_leader} had gone silent.`,
    event: {
      type: "cell.failover",
      object: { id: cell, object: "cell", epoch, leader, previous_leader, lease_ended_at, led_at },
    },
  };
}

const dayAt = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Returns the larger share of a day's two budget limits that is spent. */
function shareOf(
  budget: ProjectSettings["budget_per_day"],
  readSpending: () => BudgetSpending,
): { share: number; detail: string } | null {
  const { max_cost_usd, max_total_tokens } = budget ?? {};
  if (max_cost_usd === undefined && max_total_tokens === undefined) return null;
  const { cost_nano_usd, total_tokens } = readSpending();
  const usd = usdOf(cost_nano_usd) ?? 0;
  const parts = [
    ...(max_cost_usd === undefined
      ? []
      : [{ share: usd / max_cost_usd, detail: `$${usd.toFixed(2)} of $${max_cost_usd.toFixed(2)} are spent.` }]),
    ...(max_total_tokens === undefined
      ? []
      : [
          {
            share: total_tokens / max_total_tokens,
            detail: `${total_tokens} of ${max_total_tokens} tokens are spent.`,
          },
        ]),
  ];
  return parts.reduce((most, part) => (part.share > most.share ? part : most));
}
