import { AsyncLocalStorage } from "node:async_hooks";
import type { Stores } from "./open-data.ts";

/** Where a command runs that was sent to the leader of a cluster: in the leader, for somebody else. */
interface CommandPlace {
  stores: Stores;
  /** Takes what the command says, on standard output or beside it. */
  say(where: "stdout" | "stderr", text: string): void;
  /** Operating system account that ran the command. */
  account: string;
  /** Whoever sent it is gone. */
  gone: AbortSignal;
}

const places = new AsyncLocalStorage<CommandPlace>();

/** Null where a command runs for whoever has started this process. */
export const commandPlace = (): CommandPlace | null => places.getStore() ?? null;

export const runInPlace = <T>(place: CommandPlace, work: () => Promise<T>): Promise<T> => places.run(place, work);
