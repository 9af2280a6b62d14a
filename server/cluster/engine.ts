import type { SQL } from "bun";
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

const openSql: OpenConnection = (options) => new Bun.SQL(options);

/** At the first of the hosts, and after each fault at the next one. Nothing is connected before it is asked. */
export function createEngine(
  url: string,
  { patience_ms, name, open: openConnection = openSql }: EngineOptions,
): Engine {
  const addresses = addressesIn(url);
  let [reconnects, fault]: [number, string | null] = [0, null];
  let [host, isClosed] = [0, false];
  /** Of the present connection: whether it takes writes. */
  let checked: Promise<boolean> | null = null;
  let isMade = false;
  let sql = open();

  function open(): SQL {
    [checked, isMade] = [null, false];
    const client = openConnection({
      url: addresses[host % addresses.length]!,
      max: 1, // Statements of a cell are carried out in their order.
      bigint: true,
      connectionTimeout: 5,
      idleTimeout: 0,
      maxLifetime: 0,
      connection: { application_name: name },
      // The client would reconnect by itself with the next statement, to a host that was not checked.
      onclose: (error) => void (isMade && leave(client, error ? messageOf(error) : "the connection was closed")),
    });
    return client;
  }

  /** This host failed: connects to the next one. */
  function giveUp(client: SQL, why: string): void {
    if (client !== sql) return;
    host++;
    leave(client, why);
  }

  /** Never cancels what waits: a cancelled wait for the standby is answered like a success. */
  function leave(client: SQL, why: string): void {
    if (client !== sql || isClosed) return;
    fault = why;
    reconnects++;
    sql = open(); // Before the close: its callback must not take this client for the current one.
    void client.close({ timeout: 0 }).catch(() => {});
  }

  /** At the present host or the next one that takes writes: a standby may show less than was acknowledged. */
  async function connected(): Promise<SQL> {
    for (let left = addresses.length; ; ) {
      const client = sql;
      checked ??= takesWrites(client);
      const why = await checked.then((does) => (does ? null : "it takes no writes"), messageOf);
      if (why === null) {
        isMade ||= client === sql;
        return client;
      }
      giveUp(client, why);
      if (--left === 0) throw new Error(why);
    }
  }

  async function attempt<T>(work: (client: SQL, heard: () => void) => Promise<T>, ms = patience_ms): Promise<T | null> {
    let [client, isLate]: [SQL | null, boolean] = [null, false];
    const { promise: late, resolve } = Promise.withResolvers<null>();
    // A connection that has gone silent never ends by itself.
    const timer = setTimeout(() => {
      isLate = true;
      giveUp(client ?? sql, `no answer within ${ms} ms`);
      resolve(null);
    }, ms);
    const heard = (): void => {
      if (client === sql) timer.refresh();
    };
    const worked = async (): Promise<T | null> => {
      client = await connected();
      return isLate ? null : await work(client, heard); // Nobody waits for it any more.
    };
    try {
      const done = await Promise.race([worked(), late]);
      if (done !== null) fault = null;
      return done;
    } catch (error) {
      if (error instanceof ClusterError) throw error;
      if (client) giveUp(client, messageOf(error));
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
    async close() {
      isClosed = true;
      await sql.close({ timeout: 0 }).catch(() => {});
    },
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Whether this host takes writes: a standby does not. Sets the session's limit for idle transactions, too: a process that
 * is paused within one would keep the row of its cell locked, and no other node could take the cell. The engine rolls
 * such a transaction back and closes its connection.
 */
async function takesWrites(sql: SQL): Promise<boolean> {
  const [row] = await sql.unsafe(`SELECT current_setting('transaction_read_only') AS read_only,
    set_config('idle_in_transaction_session_timeout', '${idle_ms}', false)`);
  return row?.read_only === "off";
}

const start_ms = 12_000;
/** More than a leader computes between two statements of a transaction. */
const idle_ms = 5000;
/** Codes of Postgres for a wrong user or password, and for a database that is not there. */
const refusals = new Set(["28P01", "28000", "3D000"]);

/** The first address where the engine is there and can be written to. Throws `ClusterError` with the reason, at once or after 12 s. */
export async function requireEngine(url: string, open = openSql): Promise<string> {
  const addresses = addressesIn(url);
  const until = performance.now() + start_ms;
  let why = "";
  do {
    for (const address of addresses) {
      const sql = attemptToOpen(open, address);
      try {
        const does = await Promise.race([takesWrites(sql), Bun.sleep(4000).then(() => null)]);
        if (does) return address;
        why = `${withoutPassword(address)}: ${does === null ? "no answer" : "it takes no writes"}`;
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

/** This connects to nothing yet: it throws for a malformed address. */
function attemptToOpen(open: OpenConnection, url: string): SQL {
  try {
    return open({ url, max: 1, connectionTimeout: 3 });
  } catch (error) {
    throw new ClusterError(`${withoutPassword(url)}: ${messageOf(error)}`);
  }
}

/** Of an error of Postgres. */
export const codeOf = (error: unknown): string | null => (error as { errno?: string }).errno ?? null;
