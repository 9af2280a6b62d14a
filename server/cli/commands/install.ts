import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { Command } from "commander";
import { docsDir, isCompiled } from "../../lib/assets.ts";
import { platform } from "../../lib/platform.ts";
import { CliError, usageError } from "./exit-code.ts";
import { jsonOption, option } from "./option.ts";
import { print } from "./print.ts";

/** `runnel install`: installs this executable as a systemd service of the user `runnel`. */
export const installCommand = (): Command =>
  new Command("install")
    .description("install this executable as a service of systemd, by root")
    .addOption(option("--root <folder>", "a root file system that is not the running one", { default: "/" }))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nThen: systemctl enable --now runnel. To upgrade: the new executable's install, then systemctl reload runnel.",
    )
    .action(install);

/** The service's user, in the format of sysusers.d(5). */
export const sysusers = 'u runnel - "runnel" /var/lib/runnel\n';

function install({ root, json }: { root: string; json?: boolean }): void {
  if (!platform.systemd || !isCompiled)
    throw usageError("Only the executable for Linux installs itself: systemd is there alone.");
  if (!existsSync(root)) throw new CliError(`There is no folder ${root}.`);
  const at = (path: string) => join(root, path);
  const program = at("usr/local/bin/runnel");
  const unit = at("etc/systemd/system/runnel.service");
  const settings = at("etc/runnel/runnel.env");
  try {
    // By rename, because the installed executable may be running.
    place(program, (path) => copyFileSync(process.execPath, path), 0o755);
    place(unit, (path) => writeFileSync(path, readFileSync(join(docsDir(), "files/runnel.service"))), 0o644);
    place(at("usr/lib/sysusers.d/runnel.conf"), (path) => writeFileSync(path, sysusers), 0o644);
    if (!existsSync(settings)) place(settings, (path) => writeFileSync(path, settingsText), 0o600);
  } catch (error) {
    throw new CliError(`It cannot be installed: ${error instanceof Error ? error.message : error}. Are you root?`);
  }
  runProgram(["systemd-sysusers", `--root=${root}`, "runnel.conf"]);
  // The test of sd_booted(3). Without a running systemd (image build) there is nothing to reload.
  if (root === "/" && existsSync("/run/systemd/system")) runProgram(["systemctl", "daemon-reload"]);
  const next = "systemctl enable --now runnel";
  print(json, { program, unit, settings, next }, () =>
    [`Installed ${program} and ${unit}.`, `Settings go into ${settings}.`, `Start it: ${next}`].join("\n"),
  );
}

const settingsText = `# Flags of "runnel serve" as variables, one a line; "systemctl restart runnel" reads them anew.
# RUNNEL_DOMAIN=runs.example.com
`;

function place(path: string, write: (temporary: string) => void, mode: number): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  const temporary = `${path}.${process.pid}`;
  try {
    write(temporary);
    chmodSync(temporary, mode);
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Runs a command. Throws if it fails, or if the program is missing: then this system does not use systemd. */
function runProgram(command: [program: string, ...args: string[]]): void {
  const [program] = command;
  if (!Bun.which(program)) throw new CliError(`This system has no ${program}: it is not started by systemd.`);
  const { exitCode, stderr } = Bun.spawnSync(command);
  if (exitCode !== 0) throw new CliError(`\`${command.join(" ")}\` failed: ${stderr.toString().trim()}`);
}
