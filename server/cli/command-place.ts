import { AsyncLocalStorage } from "node:async_hooks";
import type { Actor } from "../db/audit.ts";
import type { Project } from "../projects/store.ts";
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
  /** Null where the cluster has one cell. */
  move: MoveProject | null;
}

/** Settles once the project is in the other cell. Throws `CliError` where it stays. */
export type MoveProject = (project: Project, to: string, within_ms: number, actor: Actor) => Promise<void>;

const places = new AsyncLocalStorage<CommandPlace>();

/** Null where a command runs for whoever has started this process. */
export const commandPlace = (): CommandPlace | null => places.getStore() ?? null;

export const runInPlace = <T>(place: CommandPlace, work: () => Promise<T>): Promise<T> => places.run(place, work);
