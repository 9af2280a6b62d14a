import { AsyncLocalStorage } from "node:async_hooks";
import type { Project } from "../../resources/projects/store.ts";
import type { Actor } from "../../storage/db/audit.ts";
import type { Stores } from "./open-data.ts";

/** Context of a command that another machine sent to the leader of a cluster. */
interface CommandPlace {
  stores: Stores;
  /** Receives the command's output, for standard output or standard error. */
  say(where: "stdout" | "stderr", text: string): void;
  /** Operating system account that ran the command. */
  account: string;
  /** Aborts when the client has disconnected. */
  gone: AbortSignal;
  /** Null if the cluster has one cell. */
  move: MoveProject | null;
}

/** Resolves once the project is in the other cell. Throws `CliError` if it stays. */
export type MoveProject = (project: Project, to: string, within_ms: number, actor: Actor) => Promise<void>;

const places = new AsyncLocalStorage<CommandPlace>();

/** Returns the context of a command sent to this leader; null for a command of this process itself. */
export const commandTarget = (): CommandPlace | null => places.getStore() ?? null;

export const runAtTarget = <T>(place: CommandPlace, work: () => Promise<T>): Promise<T> => places.run(place, work);
