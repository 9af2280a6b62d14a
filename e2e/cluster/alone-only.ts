// Suites that run against a single machine only, with the reason.
const folder = "they write into the data directory while nobody serves it, or look for what one machine leaves there";
const figures = "they count what one process holds, and clients are connected to another one";
const found =
  "their commands find the server by its data directory, over its end too: the node that is met has another one";
const stopped = "they are about the end of one process: in a cluster another node leads at once, see cluster.e2e";
const nodes = "they start their own nodes, or another executable";
const ports = "they are about ports and about what a cluster refuses";
const none = "they start no server";

/** Reasons by suite name. */
export const singleMachineSuites: Record<string, string> = {
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
  "lean.e2e": folder,
  "replay.e2e": folder,
  "slow-clients.e2e": figures,
  "streams.e2e": figures,
  "hostile-documents.e2e": figures,
  "many-runs.e2e": figures,
  "masking.e2e": figures,
  "noisy-project.e2e": figures,
  "open-files.e2e": figures,
  "suites.e2e": found,
  "shutdown.e2e": stopped,
  "cells.e2e": nodes,
  "cluster.e2e": nodes,
  "engine-faults.e2e": nodes,
  "projects-move.e2e": nodes,
  "kill-storm.e2e": nodes,
  "handover.e2e": ports,
  "https.e2e": ports,
  "bare-root.e2e": none,
  "python.e2e": none,
  "quickstart.e2e": none,
  "sandbox.e2e": none,
  "cluster.browser": nodes,
};
