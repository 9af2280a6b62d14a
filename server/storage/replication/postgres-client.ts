import type { SQL } from "bun";
import { hedgedRace } from "../../lib/hedged-race.ts";
import { ClusterError } from "./cluster-error.ts";
import { parseHosts, withoutPassword } from "./parse-hosts.ts";

type Row = Record<string, unknown>;

/** A connection to Postgres that reconnects. */
export interface PostgresClient {
  /** Returns null if no response came: the statement may have been executed. Statements are executed in order. */
  ask(statement: string, values: readonly unknown[]): Promise<Row[] | null>;
  /**
   * Performs work that can fail and be retried as a whole; returns null if it failed. Rethrows `ClusterError`. The time
   * limit is for all of it, or restarts with each call of `heard`.
   */
  attempt<T>(work: (sql: SQL, heard: () => void) => Promise<T>, patience_ms?: number): Promise<T | null>;
  /** Reason of the last failure; null after a success. */
  fault(): string | null;
  /** Number of dropped connections. */
  reconnects(): number;
  close(): Promise<void>;
}

interface PostgresClientOptions {
  /** Maximum wait for a response before the connection is dropped. */
  patience_ms: number;
  /** Application name in Postgres's list of connections. */
  name: string;
  /** Opens a connection; by default with Bun's client. */
  open?: OpenConnection;
}

export type OpenConnection = (options: SQL.Options) => SQL;

const openSql: OpenConnection = (options) => new Bun.SQL(options);

/** Delay after which the next host is tried beside a silent one. */
const eager_ms = 250;

/** A connection, or attempts to connect to several hosts at once. */
interface Link {
  /** Null until a host accepts writes. */
  client: SQL | null;
  made: Promise<SQL>;
  end(): Promise<void>;
}

/**
 * Creates a client that connects on first use: to the first host that accepts writes, after a fault to the next one.
 */
export function createPostgresClient(
  url: string,
  { patience_ms, name, open: openConnection = openSql }: PostgresClientOptions,
): PostgresClient {
  const addresses = parseHosts(url);
  let [reconnects, fault]: [number, string | null] = [0, null];
  let [host, isClosed] = [0, false];
  let link: Link | null = null;

  function open(address: string): SQL {
    const client = openConnection({
      url: address,
      max: 1, // One connection, so that the statements of a cell are executed in order.
      bigint: true,
      connectionTimeout: 5,
      idleTimeout: 0,
      maxLifetime: 0,
      connection: { application_name: name },
      // On close Bun's client would reconnect with the next statement, to a host that was not checked.
      onclose: (error) =>
        void (link?.client === client && leave(link, error ? messageOf(error) : "the connection was closed")),
    });
    return client;
  }

  function connect(): Link {
    const [clients, first] = [new Set<SQL>(), host];
    let isOver = false;

    /**
     * Closes a connection without cancelling its statement: Postgres answers a cancelled wait for the standby like a
     * success.
     */
    async function drop(client: SQL): Promise<void> {
      if (!clients.delete(client)) return;
      reconnects++;
      await client.close({ timeout: 0 }).catch(() => {});
    }

    async function reach(address: string, at: number) {
      if (isOver) throw new Error("the caller does not wait any more");
      const client = open(address);
      clients.add(client);
      const reason = await takesWrites(client).then(
        (isWritable) => (isWritable ? null : "it takes no writes"),
        messageOf,
      );
      if (reason === null && !isOver) return { client, at };
      void drop(client);
      throw new Error(reason ?? "the caller does not wait any more");
    }

    const hosts = addresses.map((address, at) => () => reach(address, at));
    const attempts = [...hosts.slice(first), ...hosts.slice(0, first)];
    const made = hedgedRace(attempts, eager_ms).then(
      ({ client, at }) => {
        for (const other of clients) if (other !== client) void drop(other);
        [host, connecting.client] = [at, client];
        return client;
      },
      (error) => {
        leave(connecting, messageOf(error));
        throw error;
      },
    );
    const connecting: Link = {
      client: null,
      made,
      async end() {
        isOver = true;
        await Promise.all([...clients].map(drop));
      },
    };
    return connecting;
  }

  /** Drops the connection to a failed host, so that the next one is used. */
  function giveUp(at: Link, why: string): void {
    if (at === link) host++;
    leave(at, why);
  }

  function leave(at: Link, why: string): void {
    if (at !== link || isClosed) return;
    fault = why;
    link = null; // Before `end`, whose callback reads it.
    void at.end();
  }

  async function attempt<T>(work: (client: SQL, heard: () => void) => Promise<T>, ms = patience_ms): Promise<T | null> {
    if (isClosed) return null;
    link ??= connect();
    const at = link;
    let isLate = false;
    const { promise: timeoutResult, resolve } = Promise.withResolvers<null>();
    // A connection that has gone silent never ends by itself.
    const timer = setTimeout(() => {
      isLate = true;
      giveUp(at, `no answer within ${ms} ms`);
      resolve(null);
    }, ms);
    const heard = (): void => {
      if (at === link) timer.refresh();
    };
    const runWork = async (): Promise<T | null> => {
      const client = await at.made;
      return isLate ? null : await work(client, heard); // The caller has given up.
    };
    try {
      const result = await Promise.race([runWork(), timeoutResult]);
      if (result !== null) fault = null;
      return result;
    } catch (error) {
      if (error instanceof ClusterError) throw error;
      giveUp(at, messageOf(error));
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
      await link?.end();
    },
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * True if this host accepts writes, which a standby does not. Also limits idle transactions of the session: a process
 * paused inside one would keep its cell's row locked, and no other node could claim the cell. Postgres rolls such a
 * transaction back and closes the connection.
 */
async function takesWrites(sql: SQL): Promise<boolean> {
  const [row] = await sql.unsafe(`SELECT current_setting('transaction_read_only') AS read_only,
    set_config('idle_in_transaction_session_timeout', '${idle_ms}', false)`);
  return row?.read_only === "off";
}

const start_ms = 12_000;
/** Silence after which a host counts as unavailable. */
const silent_ms = 4000;
/** Longer than a leader computes between two statements of a transaction. */
const idle_ms = 5000;
/** Postgres's codes for a wrong user or password, and for a missing database. */
const refusals = new Set(["28P01", "28000", "3D000"]);

/** Returns the URL of a host that accepts writes. Throws `ClusterError` with the reason, at once or after 12 s. */
export async function requirePostgres(url: string, open = openSql): Promise<string> {
  const addresses = parseHosts(url);
  const until = performance.now() + start_ms;
  let why = "";
  do {
    try {
      return await hedgedRace(
        addresses.map((address) => () => requireWrites(address, open)),
        eager_ms,
      );
    } catch (error) {
      if (error instanceof ClusterError) throw error;
      why = messageOf(error);
      if (addresses.length === 1 && refusals.has(codeOf(error) ?? "")) throw new ClusterError(why);
    }
    await Bun.sleep(250);
  } while (performance.now() < until);
  throw new ClusterError(`The engine cannot be used: ${why}`);
}

/** Returns the address of this host if it accepts writes; otherwise throws. */
async function requireWrites(address: string, open: OpenConnection): Promise<string> {
  const sql = attemptToOpen(open, address);
  try {
    const does = await Promise.race([takesWrites(sql), Bun.sleep(silent_ms).then(() => null)]);
    if (does) return address;
    throw new Error(does === null ? "no answer" : "it takes no writes");
  } catch (error) {
    throw Object.assign(new Error(`${withoutPassword(address)}: ${messageOf(error)}`), { errno: codeOf(error) });
  } finally {
    void sql.close({ timeout: 0 }).catch(() => {});
  }
}

/** Creates a client that is not connected yet. Throws `ClusterError` for a malformed address. */
function attemptToOpen(open: OpenConnection, url: string): SQL {
  try {
    return open({ url, max: 1, connectionTimeout: 3 });
  } catch (error) {
    throw new ClusterError(`${withoutPassword(url)}: ${messageOf(error)}`);
  }
}

/** Returns the code of a Postgres error, or null. */
export const codeOf = (error: unknown): string | null => (error as { errno?: string }).errno ?? null;
