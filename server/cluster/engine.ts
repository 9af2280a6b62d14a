import { SQL } from "bun";
import { ClusterError } from "./cluster-error.ts";
import { addressesIn, withoutPassword } from "./hosts.ts";

type Row = Record<string, unknown>;

/** A connection to the engine that survives its loss. */
export interface Engine {
  /** Null when no answer came: what was asked may have been done or not. Statements are carried out in their order. */
  ask(statement: string, values: readonly unknown[]): Promise<Row[] | null>;
  /**
   * Does something that may fail as a whole and be tried again; null when it did. Lets `ClusterError` through. Patience is
   * for all of it, or begins anew with each call of `heard`: what takes long says so that it goes on.
   */
  attempt<T>(work: (sql: SQL, heard: () => void) => Promise<T>, patience_ms?: number): Promise<T | null>;
  /** Why the last answer did not come. */
  fault(): string | null;
  /** How often the connection was given up. */
  reconnects(): number;
  close(): Promise<void>;
}

interface EngineOptions {
  /** Whoever does not answer for so long is given up. */
  patience_ms: number;
  /** What it calls itself in the engine's list of connections. */
  name: string;
  /** Opens a connection, by itself with Bun's client. */
  open?: OpenConnection;
}

export type OpenConnection = (options: SQL.Options) => SQL;

const openSql: OpenConnection = (options) => new SQL(options);

/** At the first of the hosts, and after each fault at the next one. Nothing is connected before it is asked. */
export function createEngine(
  url: string,
  { patience_ms, name, open: openConnection = openSql }: EngineOptions,
): Engine {
  const addresses = addressesIn(url);
  let [reconnects, fault]: [number, string | null] = [0, null];
  let sql = open();

  function open(): SQL {
    return openConnection({
      url: addresses[reconnects % addresses.length]!,
      max: 1, // Statements of a cell are carried out in their order.
      bigint: true,
      connectionTimeout: 5,
      idleTimeout: 0,
      maxLifetime: 0,
      connection: { application_name: name },
    });
  }

  /** Never cancels what waits: a cancelled wait for the standby is answered like a success. */
  function giveUp(client: SQL, why: string): void {
    if (client !== sql) return;
    fault = why;
    reconnects++;
    void client.close({ timeout: 0 }).catch(() => {});
    sql = open();
  }

  async function attempt<T>(work: (client: SQL, heard: () => void) => Promise<T>, ms = patience_ms): Promise<T | null> {
    const client = sql;
    const { promise: late, resolve } = Promise.withResolvers<null>();
    // A connection that has gone silent never ends by itself.
    const timer = setTimeout(() => {
      giveUp(client, `no answer within ${ms} ms`);
      resolve(null);
    }, ms);
    const heard = (): void => {
      if (client === sql) timer.refresh();
    };
    try {
      const done = await Promise.race([work(client, heard), late]);
      if (done !== null) fault = null;
      return done;
    } catch (error) {
      if (error instanceof ClusterError) throw error;
      giveUp(client, messageOf(error));
      return null;
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    attempt,
    ask: (statement, values) => attempt((client) => client.unsafe<Row[]>(statement, [...values])),
    fault: () => fault,
    reconnects: () => reconnects,
    close: () => sql.close({ timeout: 0 }).catch(() => {}),
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const start_ms = 12_000;
/** Codes of Postgres for a wrong user or password, and for a database that is not there. */
const refusals = new Set(["28P01", "28000", "3D000"]);

/** The first address where the engine is there and can be written to. Throws `ClusterError` with the reason, at once or after 12 s. */
export async function requireEngine(url: string, open = openSql): Promise<string> {
  const addresses = addressesIn(url);
  const until = performance.now() + start_ms;
  let why = "";
  do {
    for (const address of addresses) {
      const sql = open({ url: address, max: 1, connectionTimeout: 3 });
      try {
        const [row] = await Promise.race([sql.unsafe("SHOW transaction_read_only"), Bun.sleep(4000).then(() => [])]);
        if (row?.transaction_read_only === "off") return address;
        why = `${withoutPassword(address)}: ${row ? "it takes no writes" : "no answer"}`;
      } catch (error) {
        why = `${withoutPassword(address)}: ${messageOf(error)}`;
        if (addresses.length === 1 && refusals.has(codeOf(error) ?? "")) throw new ClusterError(why);
      } finally {
        void sql.close({ timeout: 0 }).catch(() => {});
      }
    }
    await Bun.sleep(250);
  } while (performance.now() < until);
  throw new ClusterError(`The engine cannot be used: ${why}`);
}

/** Of an error of Postgres. */
export const codeOf = (error: unknown): string | null => (error as { errno?: string }).errno ?? null;
