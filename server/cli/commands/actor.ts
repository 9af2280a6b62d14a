import { userInfo } from "node:os";
import type { Actor } from "../../storage/db/audit.ts";
import { commandTarget } from "./command-target.ts";

/** The audit actor of a CLI command: the OS user. */
export const cliActor = (): Actor => ({
  type: "cli",
  id: commandTarget()?.account ?? accountName(),
  ip: null,
  request_id: null,
});

function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`; // In a container the user id may have no name.
  }
}
