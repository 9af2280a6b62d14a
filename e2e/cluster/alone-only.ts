// Suites that meet one machine alone, and why.
const dies =
  "they end the process in the middle of a request and expect that the connection breaks: a spare answers 503";
const folder = "they write into the data directory while nobody serves it, or look for what one machine leaves there";
const figures = "they measure one process, or count what it alone holds";
const nodes = "they start their own nodes, or another executable";
const ports = "they are about ports and about what a cluster refuses";
const none = "they start no server";
const unknown = "a client that follows over kill -9 does not come to its end through a spare; why is not known";

/** By the name of a suite. */
export const aloneOnly: Record<string, string> = {
  "failpoints.e2e": dies,
  "idempotency.e2e": dies,
  "poison.e2e": dies,
  "replay.e2e": dies,
  "subagents.e2e": dies,
  "suites.e2e": dies,
  "webhooks.e2e": dies,
  "worker-crash.e2e": dies,
  "canary.e2e": folder,
  "command-line.e2e": folder,
  "disk-full.e2e": folder,
  "doc-commands.e2e": folder,
  "egress.e2e": folder,
  "files.e2e": folder,
  "indexing.e2e": folder,
  "migration.e2e": folder,
  "remote-backup.e2e": folder,
  "schedules.e2e": folder,
  "search.e2e": folder,
  "storage.e2e": folder,
  "keys.e2e": folder,
  "hostile-documents.e2e": figures,
  "many-runs.e2e": figures,
  "masking.e2e": figures,
  "noisy-project.e2e": figures,
  "open-files.e2e": figures,
  "slow-clients.e2e": figures,
  "streams.e2e": figures,
  "cluster.e2e": nodes,
  "kill-storm.e2e": nodes,
  "handover.e2e": ports,
  "https.e2e": ports,
  "bare-root.e2e": none,
  "python.e2e": none,
  "quickstart.e2e": none,
  "sandbox.e2e": none,
  "durable-streams.e2e": unknown,
  "cluster.browser": nodes,
};
