import type { Target } from "./targets.ts";

const monitoring = ["prometheus.yml", "runnel-alerts.yml", "runnel-grafana.json"];
const containers = ["Dockerfile", "compose.yaml", "litestream.yml", "compose-cluster.yaml", "kubernetes.yaml"];

/** Files for operators that an archive holds beside the executable; the documentation shows them. */
export function operateFilesOf({ name }: Target): string[] {
  const image = name.startsWith("linux") && !name.endsWith("-musl"); // Whose base has glibc.
  return [...monitoring, ...(name.startsWith("linux") ? ["runnel.service"] : []), ...(image ? containers : [])];
}
