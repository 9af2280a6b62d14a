import { createRegistry } from "./registry.ts";

/**
 * Metrics of the server, named by the rules of Prometheus and OpenTelemetry: unit in the name, `_total` for counters.
 * Every label has bounded values; none has names chosen by projects.
 */
export type Instruments = ReturnType<typeof createInstruments>;

// Buckets in seconds, from a cached read to a slow model call.
const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const runSeconds = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600, 86_400];
const commitSeconds = [0.000_05, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1];

export function createInstruments() {
  const registry = createRegistry();
  const described: { name: string; type: string; labels: readonly string[]; help: string }[] = [];
  const describeMetric = <Label extends string>(type: string, name: string, help: string, labelNames: Label[]) => {
    described.push({ name, type, labels: labelNames, help });
    return { name, help, labelNames };
  };
  const counter = <Label extends string = never>(name: string, help: string, ...labels: Label[]) =>
    registry.values("counter", describeMetric("counter", name, help, labels));
  const gauge = <Label extends string = never>(name: string, help: string, ...labels: Label[]) =>
    registry.values("gauge", describeMetric("gauge", name, help, labels));
  const histogram = <Label extends string = never>(name: string, help: string, buckets: number[], ...labels: Label[]) =>
    registry.histogram(describeMetric("histogram", name, help, labels), buckets);

  return {
    registry,
    /** Descriptions for the documentation, in order of declaration. */
    described,
    build: gauge("runnel_build_info", "Always 1; its labels say which build this is.", "version", "commit"),
    http: {
      duration: histogram(
        "http_server_request_duration_seconds",
        "Time from a request's head to its response; of a stream, to its beginning. Status 499: its client left before.",
        seconds,
        "http_request_method",
        "http_route",
        "http_response_status_code",
      ),
    },
    runs: {
      created: counter("runnel_runs_created_total", "Runs that began here.", "environment"),
      ended: counter("runnel_runs_ended_total", "Runs by how they ended.", "environment", "status", "error_code"),
      duration: histogram(
        "runnel_run_duration_seconds",
        "Time that ended runs were in progress; waiting does not count.",
        runSeconds,
        "environment",
        "status",
      ),
      recovered: counter("runnel_runs_recovered_total", "Times that a run was taken up after a crash."),
      now: gauge("runnel_runs", "Runs that are not over, by status.", "status"),
      oldest: gauge("runnel_queue_oldest_seconds", "How long the oldest queued run has waited; 0 without one."),
      driven: gauge("runnel_runs_driven", "Runs whose loop is at work in this process."),
    },
    cluster: {
      leads: gauge("runnel_cluster_leads", "1 where this process leads a cell of a cluster."),
      epoch: gauge("runnel_cluster_epoch", "How often a node has taken the cell that this one leads."),
      row: gauge("runnel_cluster_row", "The newest row of the cell's log that the engine has acknowledged."),
      waiting: gauge("runnel_cluster_rows_waiting", "Rows of the log that the engine has not acknowledged."),
      silent: gauge("runnel_cluster_engine_silent_seconds", "Time since the engine last answered."),
      rows: counter("runnel_cluster_rows_total", "Rows of the log that this process has sent."),
      bytes: counter("runnel_cluster_bytes_total", "Bytes of these rows, compressed."),
      reconnects: counter("runnel_cluster_reconnects_total", "Times that the connection to the engine was given up."),
    },
    models: {
      calls: counter("runnel_model_calls_total", "Calls to models; a retry counts too.", "provider", "outcome"),
      duration: histogram("runnel_model_call_duration_seconds", "Time of a model call.", seconds, "provider"),
      firstToken: histogram(
        "runnel_model_time_to_first_token_seconds",
        "Time from the call to its first token.",
        seconds,
        "provider",
      ),
      tokens: counter("runnel_model_tokens_total", "Tokens by direction.", "provider", "type"),
      places: gauge(
        "runnel_model_places",
        "Calls that a model server takes at once, where that is limited.",
        "connection",
      ),
      taken: gauge("runnel_model_places_taken", "How many of these places are taken.", "connection"),
      waiting: gauge("runnel_model_calls_waiting", "Calls that wait for such a place.", "connection"),
      away: gauge(
        "runnel_model_circuits_open",
        "Models whose calls fail, so that only a probe is made now and then.",
        "connection",
      ),
      cost: counter("runnel_model_cost_usd_total", "What models cost, as far as prices are known.", "provider"),
      unpriced: counter("runnel_model_calls_unpriced_total", "Calls to models whose cost is not known.", "provider"),
    },
    tools: {
      calls: counter("runnel_tool_calls_total", "Tool calls by the type of tool and outcome.", "type", "outcome"),
      duration: histogram("runnel_tool_call_duration_seconds", "Time of a tool call.", seconds, "type"),
    },
    steps: {
      duration: histogram(
        "runnel_step_duration_seconds",
        "Time of steps that are no model call and no tool call: retrieval, guardrails and the like.",
        seconds,
        "type",
      ),
    },
    database: {
      entries: counter("runnel_journal_entries_total", "Entries that were appended to the journals of runs."),
      transaction: histogram("runnel_db_transaction_duration_seconds", "Time of a write transaction.", commitSeconds),
      commit: histogram("runnel_db_commit_duration_seconds", "Time of its commit, with the fsync.", commitSeconds),
      size: gauge("runnel_db_size_bytes", "Size of the database's files.", "file"),
      free: gauge("runnel_disk_free_bytes", "Free space on the disk of the data directory."),
    },
    webhooks: {
      attempts: counter("runnel_webhook_attempts_total", "Attempts to deliver an event.", "outcome"),
      duration: histogram("runnel_webhook_attempt_duration_seconds", "Time of an attempt.", seconds),
      pending: gauge("runnel_webhook_deliveries_pending", "Deliveries that wait for their next attempt."),
      disabled: gauge(
        "runnel_webhooks_disabled",
        "Webhooks that the server disabled: they are gone, or failed for days.",
      ),
    },
    memory: {
      indexing: gauge("runnel_memory_entries_indexing", "Entries of memory stores that are not indexed yet."),
      files: gauge("runnel_files_processing", "Files that are not read yet."),
    },
    backups: {
      lastSuccess: gauge(
        "runnel_backup_last_success_timestamp_seconds",
        "Time of the newest backup of `--backup-to`, in seconds since 1970; 0 if none is known.",
      ),
      failures: counter("runnel_backup_failures_total", "Backups of `--backup-to` that failed."),
    },
    sandbox: gauge("runnel_sandbox_strict", "1 where the jail for code is enforced by the system."),
    process: {
      cpu: counter("process_cpu_seconds_total", "Processor time of all threads."),
      resident: gauge("process_resident_memory_bytes", "Resident memory."),
      files: gauge("process_open_fds", "Open file descriptors."),
      maxFiles: gauge("process_max_fds", "The limit of open file descriptors."),
      started: gauge("process_start_time_seconds", "When the process started, in seconds since 1970."),
      lag: gauge(
        "runnel_event_loop_lag_seconds",
        "The longest delay of the main thread since the last scrape, while there was work.",
      ),
    },
  };
}
