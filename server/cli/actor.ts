import { userInfo } from "node:os";
import type { Actor } from "../db/audit.ts";
import { commandPlace } from "./command-place.ts";

/** Whoever types a command, as the audit log names them: by their account on this machine. */
export const cliActor = (): Actor => ({
  type: "cli",
  id: commandPlace()?.account ?? accountName(),
  ip: null,
  request_id: null,
});

function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`; // A container may run under a number that has no name.
  }
}
