import { alertRules } from "../../server/services/alerts/rules.ts";
import { type Page, pageOf } from "./pages.ts";

/** Returns the page of all alerts, from the table that the server checks. */
export function alertsPage(): Page {
  const rows = Object.entries(alertRules).map(
    ([name, { of, when, todo }]) =>
      `| \`${name}\` | ${of === "server" ? "the server" : "an environment"} | ${when} | ${todo} |`,
  );
  return pageOf(
    "reference/alerts",
    `# Alerts

What the server looks for once a minute. [Monitoring](../operate/monitoring.md#alerts-without-prometheus) shows where it tells of it.

| Rule | Of | Opens when | Do |
|---|---|---|---|
${rows.join("\n")}

An alert closes when that is no longer so.
`,
  );
}
