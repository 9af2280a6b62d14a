/** An alert rule. `of`: one environment of a project, or the whole server. */
interface Rule {
  of: "environment" | "server";
  /** Condition that opens the alert; it closes when the condition ends. */
  when: string;
  todo: string;
}

export const thresholds = {
  /** Share of the runs that ended within the last hour. */
  failed_share: 0.25,
  /** Minimum number of ended runs for the share to count. */
  failed_least: 10,
  queued_ms: 5 * 60_000,
  free_share: 0.1,
  free_bytes: 10e9,
  certificate_days: 14,
  /** Time for which a failover stays an open alert. */
  failover_ms: 60 * 60_000,
} as const;

const percent = (share: number): string => `${share * 100}%`;
const raise = "Raise the day's budget in the settings of the project, or look at the overview for what costs most.";

/** All alert rules. */
export const alertRules = {
  budget_50: { of: "environment", when: "Half of a day's budget is spent.", todo: raise },
  budget_80: { of: "environment", when: "80% of a day's budget is spent.", todo: raise },
  budget_100: {
    of: "environment",
    when: "A day's budget is spent: runs fail with `budget_exceeded` until midnight UTC.",
    todo: raise,
  },
  failure_rate: {
    of: "environment",
    when: `${percent(thresholds.failed_share)} or more of the last hour's runs failed, and at least ${thresholds.failed_least} have ended.`,
    todo: "Look at the failed runs: their error says whether a model, a tool or a limit is the reason.",
  },
  webhook_dead: {
    of: "environment",
    when: "The server disabled a webhook: its URL is gone, or has failed for too long.",
    todo: "Repair the receiver, enable the webhook, and redeliver the failed events.",
  },
  queue_stuck: {
    of: "environment",
    when: `A run has waited for its turn for more than ${thresholds.queued_ms / 60_000} minutes.`,
    todo: "Look at what runs: raise `runs_in_progress` of the project, or the model server's `max_concurrent`.",
  },
  disk_low: {
    of: "server",
    when: `Less than ${percent(thresholds.free_share)} of the data directory's disk is free, and less than ${thresholds.free_bytes / 1e9} GB.`,
    todo: "Make room or give it a larger disk: below `--min-free-disk` new runs are refused.",
  },
  certificate_expiring: {
    of: "server",
    when: `The certificate ends within ${thresholds.certificate_days} days.`,
    todo: "Renew the files of `--tls-cert`. With `--domain` the log says why it was not renewed. One of the server's own is renewed by a start.",
  },
  backup_old: {
    of: "server",
    when: "The newest backup of `--backup-to` is older than twice `--backup-every` and a day.",
    todo: "Look in the log for `the backup failed`, and run `runnel doctor`: it asks the store.",
  },
  cell_failover: {
    of: "server",
    when: `The node that led a cell of the cluster went silent, and another one took over less than ${thresholds.failover_ms / 3_600_000} hour ago.`,
    todo: "Look at the machine and the log of the node that led: it was killed, paused, or cut off from the Postgres. `runnel cluster status` says whether a spare is left.",
  },
} as const satisfies Record<string, Rule>;

export type AlertRule = keyof typeof alertRules;
