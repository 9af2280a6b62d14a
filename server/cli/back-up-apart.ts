import type { MakeBackup } from "../console/backups.ts";
import { ownCommand } from "../lib/own-command.ts";

/**
 * Makes a backup as `runnel backup` does, in a process of its own: to copy a large database on the thread that answers
 * requests would keep everybody waiting. The master key never goes along.
 */
export const backUpApart =
  (dataDir: string): MakeBackup =>
  async (file) => {
    const { RUNNEL_INCLUDE_KEY: _, ...env } = process.env;
    const command = ownCommand("backup", file, "--data-dir", dataDir, "--json");
    const child = Bun.spawn(command, { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    const [said, complaint, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    if (code !== 0) throw new Error(`The backup failed: ${complaint.trim().slice(0, 1000)}`);
    return JSON.parse(said) as { version: number };
  };
