import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { npmWith } from "../scripts/npm-tool.ts";
import { inProject } from "../scripts/root.ts";
import { runProgram } from "./harness.ts";

// Grafana publishes the schema of its dashboards as types, generated from the CUE that Grafana itself is generated
// from.

const panels = "@grafana/schema/dist/esm/raw/composable";
const program = `
import type { Dashboard, FieldConfig, Panel, RowPanel } from "@grafana/schema";
import type { Options as Stat } from "${panels}/stat/panelcfg/x/StatPanelCfg_types.gen";
import type { Options as TimeSeries } from "${panels}/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen";
import type { Dataquery } from "@grafana/grafana-foundation-sdk/prometheus";

/** A type as JSON carries it: an enum is the text of its values. */
type Json<T> = T extends string ? \`\${T}\` : T extends (infer E)[] ? Json<E>[] : T extends object ? { [K in keyof T]: Json<T[K]> } : T;
/** Grafana fills in the options that are not there. */
type Some<T> = T extends unknown[] ? T : T extends object ? { [K in keyof T]?: Some<T[K]> } : T;
type Shows<Type, Options> = Omit<Json<Panel>, "type" | "options" | "fieldConfig" | "targets"> & {
  type: Type;
  options: Json<Some<Options>>;
  fieldConfig: { defaults: Omit<Json<FieldConfig>, "custom">; overrides: [] };
  targets: Json<Omit<Dataquery, "_implementsDataqueryVariant">>[];
};
type Row = Omit<Json<RowPanel>, "panels"> & { panels: [] };
type Checked = Omit<Json<Dashboard>, "panels"> & { panels: (Row | Shows<"stat", Stat> | Shows<"timeseries", TimeSeries>)[] };
`;

/** Returns the deviations of a dashboard from Grafana's schema; null if npm has no schema. */
export async function faultsOfDashboard(json: string): Promise<string | null> {
  const packages = ["@grafana/schema@13.2.3", "@grafana/grafana-foundation-sdk@0.0.21"];
  const modules = await npmWith("grafana-schema-13.2.3", packages);
  if (!modules) return null;
  const folder = mkdtempSync(join(tmpdir(), "runnel-grafana-"));
  try {
    symlinkSync(modules, join(folder, "node_modules"));
    writeFileSync(join(folder, "dashboard.ts"), `${program}export const dashboard: Checked =\n${json};\n`);
    const flags = ["--noEmit", "--strict", "--skipLibCheck", "--module", "esnext", "--moduleResolution", "bundler"];
    const command = [process.execPath, inProject("node_modules/typescript/bin/tsc"), ...flags, "dashboard.ts"];
    const { code, stdout, stderr } = await runProgram(command, folder, { PATH: process.env.PATH! }, 60_000);
    if (code !== 0 && !stdout.includes("dashboard.ts")) throw new Error(`It was not checked: ${stdout}${stderr}`);
    return stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
