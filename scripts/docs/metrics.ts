import { createInstruments } from "../../server/services/metrics/instruments.ts";
import { type Page, pageOf } from "./pages.ts";

/** Returns the page of all metrics, from their declarations. */
export function metricsPage(): Page {
  const rows = createInstruments().described.map(
    ({ name, type, labels, help }) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(", ")} | ${help} |`,
  );
  return pageOf(
    "reference/metrics",
    `# Metrics

What \`GET /metrics\` returns. [Monitoring](../operate/monitoring.md#metrics) shows how to scrape it.

| Metric | Type | Labels | Meaning |
|---|---|---|---|
${rows.join("\n")}

Counters begin at 0 with the process, as Prometheus expects. [\`GET /v1/usage\`](../operate/usage.md) has what lasts.

No label holds the name of an agent, a tool, a user or a key, so the number of series is bounded. \`provider\` is the part of a
model's name before the first \`/\`; from the 51st on it is \`other\`.
`,
  );
}
