import { migrations } from "../../migrations/index.ts";
import { createNodeSeal, passOn } from "../cluster/between-nodes.ts";
import { type DataDir, openDataDir } from "../db/data-dir.ts";
import { DatabaseTooNew, databaseVersion } from "../db/version.ts";
import { handoverVariable } from "../lib/begin-anew.ts";
import type { Log } from "../lib/log.ts";
import { ownCommand } from "../lib/own-command.ts";
import { processTable } from "../lib/process-table.ts";
import { markReceived } from "../lib/received.ts";
import { settledWithin } from "../lib/settled-within.ts";
import { type Entrance, openEntrance } from "./entrance.ts";
import { CliError } from "./exit-code.ts";
import type { ListenPlan } from "./listen-plan.ts";
import { retire_ms, retireEarly_ms } from "./listener.ts";

// A server is replaced without refusing a request. The old process starts the new one, which listens on the same ports
// and from then on gets every new connection, whose requests wait. Then the old one lets go of the data directory, the
// new one takes it and answers. What still comes to the old one, on connections that were open, it passes on.
//
//   old                                new
//   SIGUSR2 ── starts ──────────────►  loads, listens
//           ◄───────────────── ready
//   ends streams and runs, closes
//   the database ── yours ──────────►  opens it, takes the runs up, answers
//   passes requests on  ◄─── serving
//   35 s, or until makeWay: ends

type FromOld = "yours" | "gone";
type FromNew = "ready" | "serving" | "makeWay";

/** Where a server listens. */
interface Ports {
  port: number;
  httpPort: number | null;
}

/** The process before this one, as long as it is there. */
interface Predecessor {
  /** As it was opened beside the predecessor's. */
  entrance: Entrance;
  /** Tells it that requests are answered here. */
  serving(): void;
  /** Has it end; settles when it listens no more. */
  gone(): Promise<void>;
}

interface TakeOver {
  plan: ListenPlan;
  dataDir: string;
  log: Log;
  /** Does what can be done while the old process still serves. */
  rehearse(dir: DataDir): Promise<void>;
}

/** Takes over from the process that started this one; null if that was no server. Settles when the data directory is free. */
export async function takeOver({ plan, dataDir, log, rehearse }: TakeOver): Promise<Predecessor | null> {
  const given = process.env[handoverVariable];
  delete process.env[handoverVariable]; // What this process starts takes over from nobody.
  if (given === undefined || !process.send) return null;
  const tell = (message: FromNew) => process.connected && process.send?.(message);
  const told = (message: FromOld): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    process.on("message", (said) => said === message && resolve());
    process.on("disconnect", resolve); // It died, and has let go of everything.
    return promise;
  };
  const [yours, gone] = [told("yours"), told("gone")];
  const dir = openDataDir(dataDir, { lock: false, create: false });
  const version = databaseVersion(dir.database);
  if (version > migrations.length) throw new DatabaseTooNew(version); // While the old process still serves.
  await rehearse(dir);
  const ports = JSON.parse(given) as Ports;
  const entrance = await openEntrance({ ...plan, ...ports }, dir, log, { beside: true });
  tell("ready");
  await yours;
  return {
    entrance,
    serving: () => tell("serving"),
    gone() {
      tell("makeWay");
      return gone;
    },
  };
}

/** The process that follows this one; it listens and waits for the data directory. */
interface Successor {
  pid: number;
  /** Tells it that the data directory is free; settles when it answers requests, throws when it ended instead. */
  follow(): Promise<void>;
  /** Settles when it wants to be alone, or has ended. */
  wantsOut: Promise<void>;
  /** Tells it that this process listens no more. */
  leave(): void;
  /** Ends it at once. */
  kill(): void;
}

interface AwaitSuccessor {
  ports: Ports;
  predecessor: Predecessor | null;
  log: Log;
  /** A successor did not start: this process goes on. */
  onRefused(reason: string): void;
}

/** Starts a successor when SIGUSR2 comes; settles when one is ready. */
export function awaitSuccessor({ ports, predecessor, log, onRefused }: AwaitSuccessor): Promise<Successor> {
  const { promise, resolve } = Promise.withResolvers<Successor>();
  let starting = false;
  const start = async (): Promise<void> => {
    if (starting) return;
    starting = true;
    try {
      await predecessor?.gone(); // Of three listeners the system would lead connections to the middle one.
      resolve(await startSuccessor(ports));
    } catch (error) {
      starting = false;
      log.error("the process that was to follow did not start; this one goes on", { error });
      onRefused(`${new Date().toISOString()}: ${error instanceof Error ? error.message : error}`);
    }
  };
  process.on("SIGUSR2", () => void start());
  return promise;
}

const loading_ms = 120_000;

async function startSuccessor(ports: Ports): Promise<Successor> {
  const heard = new Map<FromNew, () => void>();
  const says = (message: FromNew): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    heard.set(message, resolve);
    return promise;
  };
  const [ready, serving, wantsOut] = [says("ready"), says("serving"), says("makeWay")];
  const child = Bun.spawn(ownCommand(...process.argv.slice(2)), {
    // As it was given to this process: what a configuration file said stands there since.
    env: { ...(processTable.firstEnvironment() ?? process.env), [handoverVariable]: JSON.stringify(ports) },
    stdio: ["inherit", "inherit", "inherit"],
    ipc: (message: FromNew) => heard.get(message)?.(),
  });
  const ended = child.exited.then((code) => {
    throw new CliError(`It ended with ${child.signalCode ?? code}. Its log says why.`);
  });
  ended.catch(() => {}); // While nobody waits for it.
  // One that neither listens nor ends would keep this process from ever being replaced.
  const hangs = setTimeout(() => child.kill("SIGKILL"), loading_ms);
  await Promise.race([ready, ended]).finally(() => clearTimeout(hangs));
  const tell = (message: FromOld) => child.send(message);
  return {
    pid: child.pid,
    async follow() {
      tell("yours");
      await Promise.race([serving, ended]);
    },
    wantsOut: Promise.race([wantsOut, ended.catch(() => {})]),
    leave: () => tell("gone"),
    kill: () => child.kill("SIGKILL"),
  };
}

interface HandOver {
  successor: Successor;
  entrance: Pick<Entrance, "letIn" | "makeWay" | "stop" | "cut" | "certificate" | "peerOf" | "isPlain">;
  /** Address of this machine that the ports are reached by. */
  address: string;
  masterKey: Uint8Array;
  log: Log;
  /** Ends streams and work. */
  stop(): Promise<void>;
  /** Closes the database and frees the data directory. */
  close(): void;
  /** The successor answers requests. */
  onServing(): void;
  /** A signal to stop. */
  told: Promise<unknown>;
  patience?: typeof patience;
}

const patience = {
  /** Streams and work get this long to end; what does not end is left to the successor, as after a crash. */
  ending_ms: 10_000,
  /** A request whose body is still on its way gets this long, and holds up all others. */
  underWay_ms: 1000,
  /** The next process brings the database up to date and takes all runs up. One that hangs is not waited for. */
  serving_ms: 600_000,
  retireEarly_ms,
  /** The same again for answers on their way, once it listens no more. */
  retire_ms,
  /** To cut what is still open. */
  cutting_ms: 1000,
};

/**
 * Gives everything to the successor, and settles when this process has nothing left to do: whatever clients do, a minute
 * and a half after the successor answers. Throws when that one ended, or hangs.
 */
export async function handOver({ successor, entrance, ...given }: HandOver): Promise<void> {
  const { ending_ms, underWay_ms, serving_ms, retireEarly_ms, retire_ms, cutting_ms } = given.patience ?? patience;
  const begun = performance.now();
  const served = Promise.withResolvers<void>();
  const seal = createNodeSeal(given.masterKey);
  entrance.letIn(async (request) => {
    const origin = { peer: entrance.peerOf(request), plain: entrance.isPlain(request) };
    markReceived(request); // The next process minds how the rest of it comes.
    await served.promise;
    // It is on this machine, and its certificate may be one that only a client's authorities can verify.
    return await passOn(request, { address: given.address, tls: { rejectUnauthorized: false }, seal, origin });
  });
  const answered = entrance.makeWay();
  const ended = await settledWithin(ending_ms, given.stop()).catch((error) => {
    given.log.error("not all work ended in order", { error });
    return true;
  });
  if (!ended) given.log.warn("not all work ended; the next process takes it up", { waited_ms: ending_ms });
  await Promise.race([answered, Bun.sleep(underWay_ms)]);
  given.close();
  if (!(await settledWithin(serving_ms, successor.follow()))) {
    successor.kill();
    throw new CliError(`The next process did not serve within ${serving_ms / 1000} s.`);
  }
  given.log.info("handed over", { pid: successor.pid, waited_ms: Math.round(performance.now() - begun) });
  served.resolve();
  given.onServing();
  await Bun.sleep(retireEarly_ms); // Handshakes that were begun with this process end with it.
  await Promise.race([successor.wantsOut, given.told, Bun.sleep(retire_ms - retireEarly_ms)]);
  const stopped = entrance.stop();
  successor.leave();
  await Promise.race([stopped, given.told, Bun.sleep(retire_ms)]);
  await Promise.race([entrance.cut(), Bun.sleep(cutting_ms)]);
}
