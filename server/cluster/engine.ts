import type { SQL } from "bun";
import { firstOf } from "../lib/first-of.ts";
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

/** A host that says nothing for so long keeps the next one waiting no longer. */
const eager_ms = 250;

/** A connection that is made, or is being made to several hosts at once. */
interface Link {
  /** Null until it takes writes. */
  client: SQL | null;
  made: Promise<SQL>;
  end(): Promise<void>;
}

/** At the first of the hosts that takes writes, and after each fault at the next one. Nothing is connected before it is asked. */
export function createEngine(
  url: string,
  { patience_ms, name, open: openConnection = openSql }: EngineOptions,
): Engine {
  const addresses = addressesIn(url);
  let [reconnects, fault]: [number, string | null] = [0, null];
  let [host, isClosed] = [0, false];
  let link: Link | null = null;

  function open(address: string): SQL {
    const client = openConnection({
      url: address,
      max: 1, // Statements of a cell are carried out in their order.
      bigint: true,
      connectionTimeout: 5,
      idleTimeout: 0,
      maxLifetime: 0,
      connection: { application_name: name },
      // The client would reconnect by itself with the next statement, to a host that was not checked.
      onclose: (error) =>
        void (link?.client === client && leave(link, error ? messageOf(error) : "the connection was closed")),
    });
    return client;
  }

  function connect(): Link {
    const [opened, first] = [new Set<SQL>(), host];
    let isOver = false;

    /** Never cancels what waits: a cancelled wait for the standby is answered like a success. */
    async function drop(client: SQL): Promise<void> {
      if (!opened.delete(client)) return;
      reconnects++;
      await client.close({ timeout: 0 }).catch(() => {});
    }

    async function reach(at: number) {
      if (isOver) throw new Error("nobody waits for it any more");
      const client = open(addresses[at]!);
      opened.add(client);
      const why = await takesWrites(client).then((does) => (does ? null : "it takes no writes"), messageOf);
      if (why === null && !isOver) return { client, at };
      void drop(client);
      throw new Error(why ?? "nobody waits for it any more");
    }

    const works = addresses.map((_, n) => () => reach((first + n) % addresses.length));
    const made = firstOf(works, eager_ms).then(
      ({ client, at }) => {
        for (const other of opened) if (other !== client) void drop(other);
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
        await Promise.all([...opened].map(drop));
      },
    };
    return connecting;
  }

  /** This host failed: connects to the next one. */
  function giveUp(at: Link, why: string): void {
    if (at === link) host++;
    leave(at, why);
  }

  function leave(at: Link, why: string): void {
    if (at !== link || isClosed) return;
    fault = why;
    link = null; // Before its end, whose callback looks at it.
    void at.end();
  }

  async function attempt<T>(work: (client: SQL, heard: () => void) => Promise<T>, ms = patience_ms): Promise<T | null> {
    if (isClosed) return null;
    link ??= connect();
    const at = link;
    let isLate = false;
    const { promise: late, resolve } = Promise.withResolvers<null>();
    // A connection that has gone silent never ends by itself.
    const timer = setTimeout(() => {
      isLate = true;
      giveUp(at, `no answer within ${ms} ms`);
      resolve(null);
    }, ms);
    const heard = (): void => {
      if (at === link) timer.refresh();
    };
    const worked = async (): Promise<T | null> => {
      const client = await at.made;
      return isLate ? null : await work(client, heard); // Nobody waits for it any more.
    };
    try {
      const done = await Promise.race([worked(), late]);
      if (done !== null) fault = null;
      return done;
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
/** A host that says nothing for so long is away. */
const silent_ms = 4000;
/** More than a leader computes between two statements of a transaction. */
const idle_ms = 5000;
/** Codes of Postgres for a wrong user or password, and for a database that is not there. */
const refusals = new Set(["28P01", "28000", "3D000"]);

/** An address where the engine is there and can be written to. Throws `ClusterError` with the reason, at once or after 12 s. */
export async function requireEngine(url: string, open = openSql): Promise<string> {
  const addresses = addressesIn(url);
  const until = performance.now() + start_ms;
  let why = "";
  do {
    try {
      return await firstOf(
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

/** Of one host, which it returns. */
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
