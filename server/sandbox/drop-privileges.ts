import { forgetNative } from "../lib/native.ts";
import { type Libc, openLibc } from "./libc.ts";
import { parentSocket } from "./parent-socket.ts";
import { filterLoaded } from "./seccomp.ts";

/**
 * What a child still gives up before its task, once all that it needs is in memory: no file is opened any more, no
 * machine code made, no other program begun; and the end of the parent's socket, however that comes, ends this process.
 */
export type DropPrivileges = () => void;

/** Of a child where there is no jail. */
export const keepPrivileges: DropPrivileges = () => {};

/** Of a child in the jail. Where one of these is refused, the child ends: nothing runs in half a jail. */
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
 * The kernel itself sends the signal, which no program hears of: neither a loop nor a sleep can put it off. It is sent for
 * whatever happens on the socket, and some time after it was written to: standard input, on which the task comes, would
 * now and then end a child that has just read the last of it.
 */
function endWithParentSocket(libc: Libc): boolean {
  const ask = (command: number, value: number) => libc.syscall(fcntl, parentSocket, command, value);
  const flags = ask(F.GETFL, 0);
  const asked = [ask(F.SETOWN, process.pid), ask(F.SETSIG, SIGKILL), ask(F.SETFL, flags | O_ASYNC)];
  return flags >= 0 && asked.every((answer) => answer >= 0);
}
