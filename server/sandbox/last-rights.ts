import { forgetNative } from "../lib/native.ts";
import { type Libc, openLibc } from "./libc.ts";
import { filterLoaded } from "./seccomp.ts";

/** What a child still gives up on its way to its task. */
export interface LastRights {
  /** All that it needs is in memory: no file is opened any more, no machine code made, no other program begun. */
  loaded(): void;
  /** The server has sent all that it will: from now on the end of its pipe, however that comes, ends this process. */
  told(): void;
}

/** Of a child where there is no jail. */
export const none: LastRights = { loaded() {}, told() {} };

/** Of a child in the jail. Where one of these is refused, the child ends: nothing runs in half a jail. */
export function lastRights(parent: number): LastRights {
  const libc = openLibc();
  return {
    loaded() {
      orEnd(filterLoaded(libc));
      forgetNative();
    },
    told: () => orEnd(endWithInput(libc) && libc.getppid() === parent),
  };
}

const SIGKILL = 9;
const fcntl = process.arch === "x64" ? 72 : 25;
const F = { GETFL: 3, SETFL: 4, SETOWN: 8, SETSIG: 10 };
const O_ASYNC = 0x2000;

/** The kernel itself sends the signal, which no program hears of: neither a loop nor a sleep can put it off. */
function endWithInput(libc: Libc): boolean {
  const ask = (command: number, value: number) => libc.syscall(fcntl, 0, command, value);
  const flags = ask(F.GETFL, 0);
  const asked = [ask(F.SETOWN, process.pid), ask(F.SETSIG, SIGKILL), ask(F.SETFL, flags | O_ASYNC)];
  return flags >= 0 && asked.every((answer) => answer >= 0);
}

function orEnd(done: boolean): void {
  if (!done) process.exit(1);
}
