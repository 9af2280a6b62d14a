import { Command } from "commander";
import { build } from "../lib/build-info.ts";
import { jsonOption } from "./option.ts";
import { print } from "./print.ts";

/** `runnel 1.2.3 (commit 0123456789ab, built 2026-11-21T…)`. */
export const versionText = (): string =>
  `runnel ${build.version} (commit ${build.commit}${build.date ? `, built ${build.date}` : ""})`;

export const versionCommand = (): Command =>
  new Command("version")
    .description("print the version, the commit and the date of the build")
    .addOption(jsonOption())
    .action(({ json }: { json?: boolean }) => print(json, { ...build, bun: Bun.version }, versionText));
