import { migrations } from "../../../migrations/index.ts";
import type { Log } from "../../lib/log.ts";
import { processTable } from "../../lib/process-table.ts";
import { handoverVariable } from "../../lib/reexec.ts";
import { markBodyReceived } from "../../lib/request-body-state.ts";
import { selfCommand } from "../../lib/self-command.ts";
import { settlesWithin } from "../../lib/with-timeout.ts";
import { type DataDir, openDataDir } from "../../storage/db/data-dir.ts";
import { DatabaseTooNew, databaseVersion } from "../../storage/db/version.ts";
import { createNodeSeal, passOn } from "../../storage/replication/node-auth.ts";
import { CliError } from "../commands/exit-code.ts";
import type { ListenPlan } from "./listen-plan.ts";
import { retire_ms, retireEarly_ms } from "./listener.ts";
import { type Listeners, openListeners } from "./listeners.ts";

// Replaces a server without refusing a request. The old process starts the new one, which listens on the same ports and
// gets every new connection from then on; their requests wait. Then the old one releases the data directory, and the
// new one takes it and serves. The old one passes on requests that still arrive on its open connections.
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

/** Ports of a server. */
interface Ports {
  port: number;
  httpPort: number | null;
}

/** The previous process, while it exists. */
interface Predecessor {
  /** The listeners opened beside the predecessor's. */
  entrance: Listeners;
  /** Tells it that this process serves. */
  serving(): void;
  /** Makes it end; resolves when it no longer listens. */
  gone(): Promise<void>;
}

interface TakeOver {
  plan: ListenPlan;
  dataDir: string;
  log: Log;
  /** Prepares work while the old process still serves. */
  rehearse(dir: DataDir): Promise<void>;
}

/**
 * Takes over from the process that started this one; null if that was no server. Resolves when the data directory is
 * free.
 */
export async function takeOver({ plan, dataDir, log, rehearse }: TakeOver): Promise<Predecessor | null> {
  const portsText = process.env[handoverVariable];
  delete process.env[handoverVariable]; // Processes started by this one must not take over.
  if (portsText === undefined || !process.send) return null;
  const send = (message: FromNew) => process.connected && process.send?.(message);
  const received = (message: FromOld): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    process.on("message", (incoming) => incoming === message && resolve());
    process.on("disconnect", resolve); // The old process has died, which releases everything.
    return promise;
  };
  const [yours, gone] = [received("yours"), received("gone")];
  const dir = openDataDir(dataDir, { lock: false, create: false });
  const version = databaseVersion(dir.database);
  if (version > migrations.length) throw new DatabaseTooNew(version); // Checked while the old process still serves.
  await rehearse(dir);
  const ports = JSON.parse(portsText) as Ports;
  const entrance = await openListeners({ ...plan, ...ports }, dir, log, { beside: true });
  send("ready");
  await yours;
  return {
    entrance,
    serving: () => send("serving"),
    gone() {
      send("makeWay");
      return gone;
    },
  };
}

/** The next process, which listens and waits for the data directory. */
interface Successor {
  pid: number;
  /** Tells it that the data directory is free. Resolves when it serves, throws if it ended instead. */
  follow(): Promise<void>;
  /** Resolves when this process shall end, or the successor has ended. */
  wantsOut: Promise<void>;
  /** Tells it that this process no longer listens. */
  leave(): void;
  kill(): void;
}

interface AwaitSuccessor {
  ports: Ports;
  predecessor: Predecessor | null;
  log: Log;
  /** Called if a successor did not start: this process continues. */
  onRefused(reason: string): void;
}

/** Starts a successor on SIGUSR2; resolves when one is ready. */
export function awaitSuccessor({ ports, predecessor, log, onRefused }: AwaitSuccessor): Promise<Successor> {
  const { promise, resolve } = Promise.withResolvers<Successor>();
  let starting = false;
  const start = async (): Promise<void> => {
    if (starting) return;
    starting = true;
    try {
      await predecessor?.gone(); // With three listeners the system would send connections to the second one.
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
  const resolvers = new Map<FromNew, () => void>();
  const messageFrom = (message: FromNew): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    resolvers.set(message, resolve);
    return promise;
  };
  const [ready, serving, wantsOut] = [messageFrom("ready"), messageFrom("serving"), messageFrom("makeWay")];
  const child = Bun.spawn(selfCommand(...process.argv.slice(2)), {
    // The original environment: the configuration file has since added its variables to `process.env`.
    env: { ...(processTable.firstEnvironment() ?? process.env), [handoverVariable]: JSON.stringify(ports) },
    stdio: ["inherit", "inherit", "inherit"],
    ipc: (message: FromNew) => resolvers.get(message)?.(),
  });
  const exited = child.exited.then((code) => {
    throw new CliError(`It ended with ${child.signalCode ?? code}. Its log says why.`);
  });
  exited.catch(() => {}); // Avoids an unhandled rejection.
  // Killed if it neither listens nor ends: otherwise this process could never be replaced.
  const killTimer = setTimeout(() => child.kill("SIGKILL"), loading_ms);
  await Promise.race([ready, exited]).finally(() => clearTimeout(killTimer));
  const tell = (message: FromOld) => child.send(message);
  return {
    pid: child.pid,
    async follow() {
      tell("yours");
      await Promise.race([serving, exited]);
    },
    wantsOut: Promise.race([wantsOut, exited.catch(() => {})]),
    leave: () => tell("gone"),
    kill: () => child.kill("SIGKILL"),
  };
}

interface HandOver {
  successor: Successor;
  entrance: Pick<Listeners, "letIn" | "makeWay" | "stop" | "cut" | "certificate" | "peerOf" | "isPlain">;
  /** Address of the ports on this machine. */
  address: string;
  masterKey: Uint8Array;
  log: Log;
  /** Ends streams and runs. */
  stop(): Promise<void>;
  /** Closes the database and releases the data directory. */
  close(): void;
  /** Called when the successor serves. */
  onServing(): void;
  /** Resolves with a signal to stop. */
  told: Promise<unknown>;
  patience?: typeof patience;
}

const patience = {
  /** Time for streams and runs to end; the successor recovers the rest, as after a crash. */
  ending_ms: 10_000,
  /** Time for requests whose body is still arriving, which delay all others. */
  underWay_ms: 1000,
  /** Time for the successor to migrate the database and recover all runs; one that hangs is killed. */
  serving_ms: 600_000,
  retireEarly_ms,
  /** Time for clients to close their connections, and again for the last responses after the listeners have closed. */
  retire_ms,
  /** Time to close the remaining connections. */
  cutting_ms: 1000,
};

/**
 * Hands everything over to the successor. Resolves when this process may end: at most a minute and a half after the
 * successor serves, whatever clients do. Throws if the successor ended or hangs.
 */
export async function handOver({ successor, entrance, ...options }: HandOver): Promise<void> {
  const { ending_ms, underWay_ms, serving_ms, retireEarly_ms, retire_ms, cutting_ms } = options.patience ?? patience;
  const startedAt = performance.now();
  const served = Promise.withResolvers<void>();
  const seal = createNodeSeal(options.masterKey);
  entrance.letIn(async (request) => {
    const origin = { peer: entrance.peerOf(request), plain: entrance.isPlain(request) };
    markBodyReceived(request); // The successor times the arrival of the rest.
    await served.promise;
    // The address is on this machine, and clients may verify the certificate by another name or CA.
    return await passOn(request, { address: options.address, tls: { rejectUnauthorized: false }, seal, origin });
  });
  const allAnswered = entrance.makeWay();
  const hasEnded = await settlesWithin(ending_ms, options.stop()).catch((error) => {
    options.log.error("not all work ended in order", { error });
    return true;
  });
  if (!hasEnded) options.log.warn("not all work ended; the next process takes it up", { waited_ms: ending_ms });
  await Promise.race([allAnswered, Bun.sleep(underWay_ms)]);
  options.close();
  if (!(await settlesWithin(serving_ms, successor.follow()))) {
    successor.kill();
    throw new CliError(`The next process did not serve within ${serving_ms / 1000} s.`);
  }
  options.log.info("handed over", { pid: successor.pid, waited_ms: Math.round(performance.now() - startedAt) });
  served.resolve();
  options.onServing();
  await Bun.sleep(retireEarly_ms); // TLS handshakes that began with this process end with it.
  await Promise.race([successor.wantsOut, options.told, Bun.sleep(retire_ms - retireEarly_ms)]);
  const stopped = entrance.stop();
  successor.leave();
  await Promise.race([stopped, options.told, Bun.sleep(retire_ms)]);
  await Promise.race([entrance.cut(), Bun.sleep(cutting_ms)]);
}
