import type { Target } from "./targets.ts";

const monitoring = ["prometheus.yml", "runnel-alerts.yml", "runnel-grafana.json"];
const containers = ["Dockerfile", "compose.yaml", "litestream.yml", "compose-cluster.yaml", "kubernetes.yaml"];

/** Returns the operators' files in an archive beside the executable; the documentation shows them. */
export function operateFilesOf({ name }: Target): string[] {
  const image = name.startsWith("linux") && !name.endsWith("-musl"); // The image's base has glibc.
  return [...monitoring, ...(name.startsWith("linux") ? ["runnel.service"] : []), ...(image ? containers : [])];
}
