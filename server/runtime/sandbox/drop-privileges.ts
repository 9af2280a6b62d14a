import { forgetNative } from "../../lib/native.ts";
import { type Libc, openLibc } from "./libc.ts";
import { parentSocket } from "./parent-socket.ts";
import { filterLoaded } from "./seccomp.ts";

/**
 * Gives up the remaining privileges of a child before its task, once all it needs is in memory: it can then open no
 * file, make no machine code and start no program. Closing the parent's socket in any way kills the process.
 */
export type DropPrivileges = () => void;

/** For a child without a jail: keeps everything. */
export const keepPrivileges: DropPrivileges = () => {};

/** For a child in the jail. If any step is refused, the child exits, because nothing may run in half a jail. */
export const dropPrivilegesOf =
  (parent: number): DropPrivileges =>
  () => {
    const libc = openLibc();
    if (!endWithParentSocket(libc) || libc.getppid() !== parent || !filterLoaded(libc)) process.exit(1);
    forgetNative();
  };

const SIGKILL = 9;
const fcntl = process.arch === "x64" ? 72 : 25;
const F = { GETFL: 3, SETFL: 4, SETOWN: 8, SETSIG: 10 };
const O_ASYNC = 0x2000;

/**
 * Makes the kernel send SIGKILL when the parent's socket closes, which neither a loop nor a sleep can delay. The signal
 * is sent for any event on the socket, even some time after a write: standard input, which carries the task, would
 * sometimes kill a child that has just read it all.
 */
function endWithParentSocket(libc: Libc): boolean {
  const callFcntl = (command: number, value: number) => libc.syscall(fcntl, parentSocket, command, value);
  const flags = callFcntl(F.GETFL, 0);
  const results = [callFcntl(F.SETOWN, process.pid), callFcntl(F.SETSIG, SIGKILL), callFcntl(F.SETFL, flags | O_ASYNC)];
  return flags >= 0 && results.every((answer) => answer >= 0);
}
