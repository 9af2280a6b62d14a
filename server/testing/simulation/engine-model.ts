import type { SQL } from "bun";
import type { OpenConnection } from "../../storage/replication/postgres-client.ts";
import type { Owner, World } from "./world.ts";

type Row = Record<string, unknown>;

interface Cell {
  epoch: number;
  head: number;
  base: number;
  base_epoch: number;
  leader: string;
  address: string;
  certificate: string;
  master_key_id: string;
  version: number;
  /** End of the lease by Postgres's clock. */
  lease_until: number;
}

interface Tables {
  cell: Cell | null;
  log: Map<number, { epoch: number; frames: Uint8Array }>;
  pages: Map<number, Uint8Array>;
}

/** A transaction's snapshot, its locks, and the changes to apply at its commit. */
interface Transaction {
  /** Snapshot of a repeatable read. */
  moment: Tables | null;
  holds: Set<Lock>;
  writes: (() => void)[];
}

/** Rows that two transactions may change: the cell's row, old and new log rows, and the pages. */
type Lock = "cell" | "old rows" | "new rows" | "pages";

interface Connection {
  owner: Owner;
  /** The node receives nothing more, or has given the connection up. */
  isLost: boolean;
  /** The node knows that the connection is lost. */
  isCut: boolean;
  /** Postgres knows it too: it executes nothing more. */
  isOver: boolean;
  arrives_at: number;
  answers_at: number;
  waiting: Statement[];
  isBusy: boolean;
  transaction: Transaction | null;
  fail: Set<(error: Error) => void>;
}

interface Statement {
  text: string;
  values: readonly unknown[];
  answer(rows: Row[]): void;
}

/**
 * Model of a Postgres with one cell: it executes the statements of a connection in order, each after a while;
 * transactions lock the rows that they changed; connections are cut or fall silent while answers are in flight, and
 * their statements may be executed nevertheless. It knows only the statements of `server/storage/replication`. Throws
 * by `found` if its state breaks an invariant.
 */
export function createEngineModel(world: World, found: (what: string) => void) {
  const tables: Tables = { cell: null, log: new Map(), pages: new Map() };
  const engine: Owner = { frozen: false, dead: false, isProcess: true };
  const connections = new Set<Connection>();
  const held = new Map<Lock, Transaction>();
  /** Statements that wait for a lock of another transaction. */
  let blocked: (() => void)[] = [];
  let [isDown, slow_ms, clock_ms] = [false, 0, world.int(7_200_000) - 3_600_000];
  const now = () => world.now() + clock_ms;

  const later = (owner: Owner, at: number, run: () => void): void =>
    void world.setAlarm(run, at - world.now(), null, owner);

  const travel_ms = () => (world.chance(0.9) ? 1 : world.int(200));

  function send(connection: Connection, text: string, values: readonly unknown[]): Promise<Row[]> {
    const { promise, resolve, reject } = Promise.withResolvers<Row[]>();
    const { owner } = connection;
    if (isDown || connection.isCut) world.setAlarm(() => reject(new Error("It is not reached.")), 1);
    if (isDown || connection.isLost) return promise;
    connection.fail.add(reject);
    const answer = (rows: Row[]): void => {
      connection.answers_at = Math.max(connection.answers_at, world.now() + travel_ms());
      later(owner, connection.answers_at, () => {
        if (!connection.isLost) resolve(rows);
      });
    };
    connection.arrives_at = Math.max(connection.arrives_at, world.now() + travel_ms());
    later(engine, connection.arrives_at, () => {
      // Data in flight may have arrived when a connection is cut.
      if (isDown || connection.isOver || (connection.isLost && world.chance(0.5))) return;
      connection.waiting.push({ text, values, answer });
      next(connection);
    });
    return promise;
  }

  function next(connection: Connection): void {
    if (connection.isBusy) return;
    const statement = connection.waiting.shift();
    if (!statement) return;
    connection.isBusy = true;
    const done = (rows: Row[]): void => {
      connection.isBusy = false;
      statement.answer(rows);
      next(connection);
    };
    const carryOut = (): void => {
      if (connection.isOver) return;
      const rows = perform(connection, statement);
      if (rows === null) blocked.push(carryOut);
      else later(engine, world.now() + (rows.length > 0 ? slow_ms : 0), () => done(rows));
    };
    carryOut();
  }

  function begin(connection: Connection, how: string): void {
    const moment = how.includes("repeatable read")
      ? { cell: tables.cell && { ...tables.cell }, log: new Map(tables.log), pages: new Map(tables.pages) }
      : null;
    connection.transaction = { moment, holds: new Set(), writes: [] };
  }

  function end(connection: Connection, isKept: boolean): void {
    const { transaction } = connection;
    connection.transaction = null;
    if (!transaction) return;
    if (isKept) for (const write of transaction.writes) write();
    for (const lock of transaction.holds) held.delete(lock);
    const all = blocked;
    blocked = [];
    for (const each of all) each();
  }

  /** Performs a statement. Returns null if it must wait for another transaction. */
  function perform(connection: Connection, { text, values }: Statement): Row[] | null {
    if (text.startsWith("BEGIN")) begin(connection, text);
    else if (text === "COMMIT" || text === "ROLLBACK") end(connection, text === "COMMIT");
    else {
      const [, locks, run] = statements.find(([form]) => form.test(text)) ?? [];
      if (!run) throw new Error(`No statement of a cluster: ${text}`);
      const { transaction } = connection;
      if (locks!.some((lock) => held.has(lock) && held.get(lock) !== transaction)) return null;
      if (transaction)
        for (const lock of locks!) {
          held.set(lock, transaction);
          transaction.holds.add(lock);
        }
      const { rows, write } = run(transaction?.moment ?? tables, values, text);
      if (write && transaction) transaction.writes.push(write);
      else write?.();
      return rows;
    }
    return [];
  }

  interface Done {
    rows: Row[];
    write?: () => void;
  }
  type Run = (from: Tables, values: readonly unknown[], text: string) => Done;

  const leaseIn = (text: string): number => now() + Number(/\+ ([\d.]+) \* interval/.exec(text)![1]);
  const change = (set: Partial<Cell>) => () => void Object.assign(tables.cell!, set);
  /** A statement without this condition applies to any leader. */
  const isOf = (from: Tables, epoch: unknown, text: string) => !/\bepoch = \$/.test(text) || from.cell?.epoch === epoch;

  const statements: [form: RegExp, locks: Lock[], run: Run][] = [
    [/'transaction_read_only'/, [], () => ({ rows: [{ read_only: "off" }] })],
    [/to_regclass/, [], () => ({ rows: [{ there: true }] })],
    [/LIMIT 0$/, [], () => ({ rows: [] })],
    [/runnel_nodes/, [], () => ({ rows: [] })],
    [
      /^SELECT epoch, head, base, base_epoch, leader/,
      [],
      ({ cell }) => ({
        rows: cell
          ? [
              {
                ...cell,
                free: cell.lease_until < now(),
                lease_ms: Math.max(0, cell.lease_until - now()),
                lease_until: String(cell.lease_until),
              },
            ]
          : [],
      }),
    ],
    [
      /^INSERT INTO runnel_cells/,
      ["cell"],
      (_, [, master_key_id, version]) => ({
        rows: [],
        write: () => {
          tables.cell ??= {
            epoch: 0,
            head: 0,
            base: 0,
            base_epoch: 0,
            leader: "",
            address: "",
            certificate: "",
            master_key_id: master_key_id as string,
            version: version as number,
            lease_until: Number.NEGATIVE_INFINITY,
          };
        },
      }),
    ],
    [
      /^UPDATE runnel_cells AS cell SET epoch/,
      ["cell"],
      ({ cell }, [, leader, , , , , over], text) => {
        const isOver = text.includes("lease_until::text = $7") && String(cell?.lease_until) === over;
        if (!cell || (cell.lease_until >= now() && !isOver)) return { rows: [] };
        const { epoch, head, leader: previous, lease_until } = cell;
        const ended_ms = lease_until > Number.NEGATIVE_INFINITY ? lease_until : null;
        return {
          rows: [{ epoch: epoch + 1, head, previous, ended_ms, led_ms: now() }],
          write: change({ epoch: epoch + 1, leader: leader as string, lease_until: leaseIn(text) }),
        };
      },
    ],
    [
      /SET lease_until = '-infinity'/,
      ["cell"],
      (from, [, epoch], text) => ({
        rows: [],
        ...(isOf(from, epoch, text) && { write: change({ lease_until: Number.NEGATIVE_INFINITY }) }),
      }),
    ],
    [
      /^UPDATE runnel_cells SET lease_until .* RETURNING head$/,
      ["cell"],
      (from, [, epoch], text) =>
        isOf(from, epoch, text)
          ? { rows: [{ head: from.cell!.head }], write: change({ lease_until: leaseIn(text) }) }
          : { rows: [] },
    ],
    [
      /^WITH mine AS[\s\S]* INSERT INTO runnel_log/,
      ["cell"],
      (from, [, epoch, seq, frames], text) => {
        if (!isOf(from, epoch, text) || from.cell!.head !== (seq as number) - 1) return { rows: [] };
        return {
          rows: [{ seq }],
          write() {
            if (tables.log.has(seq as number)) found(`row ${seq} is written twice`);
            tables.log.set(seq as number, { epoch: epoch as number, frames: frames as Uint8Array });
            change({ head: seq as number, lease_until: leaseIn(text) })();
          },
        };
      },
    ],
    [/^SELECT base(, base_epoch)? FROM runnel_cells/, [], ({ cell }) => ({ rows: cell ? [{ ...cell }] : [] })],
    [
      /^SELECT seq FROM runnel_log .* FOR UPDATE$/,
      ["old rows"],
      ({ log }, [, after]) => ({ rows: rowsOf(log, after).slice(0, 1) }),
    ],
    [
      /^SELECT seq FROM runnel_log/,
      [],
      ({ log }, [, seq, epoch]) => ({ rows: log.get(seq as number)?.epoch === epoch ? [{ seq }] : [] }),
    ],
    [
      /^SELECT r\.seq, r\.epoch, r\.frames FROM/,
      [],
      ({ log }, [, after, limit, bytes]) => {
        let before = 0;
        const fits = ({ frames }: { frames: Uint8Array }) => {
          const starts = before;
          before += frames.length;
          return starts < (bytes as number);
        };
        return {
          rows: rowsOf(log, after)
            .slice(0, limit as number)
            .filter(fits),
        };
      },
    ],
    [
      /^SELECT frames FROM runnel_log/,
      [],
      ({ log }, [, seq]) => ({ rows: log.has(seq as number) ? [log.get(seq as number)!] : [] }),
    ],
    [
      /^SELECT page, image FROM runnel_pages/,
      [],
      ({ pages }, [, after, limit]) => ({
        rows: [...pages]
          .map(([page, image]) => ({ page, image }))
          .sort((a, b) => a.page - b.page)
          .filter(({ page }) => page > (after as number))
          .slice(0, limit as number),
      }),
    ],
    [
      /^INSERT INTO runnel_pages/,
      ["pages"],
      (_, [rows]) => ({
        rows: [],
        write() {
          for (const { page, image } of rows as { page: number; image: Uint8Array }[]) tables.pages.set(page, image);
        },
      }),
    ],
    [
      /^UPDATE runnel_cells SET head = 1, base = 1/,
      ["cell"],
      (from, [base_epoch, , epoch], text) =>
        isOf(from, epoch, text) && from.cell!.head === 0
          ? { rows: [{ head: 1 }], write: change({ head: 1, base: 1, base_epoch: base_epoch as number }) }
          : { rows: [] },
    ],
    [
      /^UPDATE runnel_cells SET head = \$1 WHERE/,
      ["cell"],
      (from, [head, , epoch], text) =>
        isOf(from, epoch, text) ? { rows: [{ head }], write: change({ head: head as number }) } : { rows: [] },
    ],
    [
      /^UPDATE runnel_cells SET base = /,
      ["cell"],
      (_, [base, base_epoch]) => ({
        rows: [],
        write: change({ base: base as number, base_epoch: base_epoch as number }),
      }),
    ],
    [
      /^DELETE FROM runnel_log WHERE cell = \$1 AND seq > /,
      ["new rows"],
      (_, [, after]) => ({ rows: [], write: () => drop(tables.log, (seq) => seq > (after as number)) }),
    ],
    [
      /^DELETE FROM runnel_log WHERE cell = \$1 AND seq <= /,
      ["old rows"],
      (_, [, upto]) => ({ rows: [], write: () => drop(tables.log, (seq) => seq <= (upto as number)) }),
    ],
    [
      /^DELETE FROM runnel_pages/,
      ["pages"],
      (_, [, most]) => ({ rows: [], write: () => drop(tables.pages, (page) => page > (most as number)) }),
    ],
  ];

  /** Loses a connection. The node learns of it or never does; Postgres notices after a while. */
  function lose(connection: Connection, isHeard: boolean): void {
    if (connection.isLost) return;
    [connection.isLost, connection.isCut] = [true, isHeard];
    connections.delete(connection);
    if (isHeard)
      later(connection.owner, world.now(), () => {
        for (const fail of connection.fail) fail(new Error("The connection was cut."));
      });
    later(engine, world.now() + world.int(400), () => {
      connection.isOver = true;
      end(connection, false);
    });
  }

  /** Opens connections for a process. */
  const opening = (owner: Owner): OpenConnection => {
    return () => {
      const connection: Connection = {
        owner,
        isLost: false,
        isCut: false,
        isOver: false,
        arrives_at: 0,
        answers_at: 0,
        waiting: [],
        isBusy: false,
        transaction: null,
        fail: new Set(),
      };
      connections.add(connection);
      const ask = (text: string, values: readonly unknown[] = []) => send(connection, text, values);
      const asked = (first: TemplateStringsArray | Row[], ...values: unknown[]) => {
        if (!("raw" in first)) return first; // Rows to insert.
        const text = first.reduce((text, part, at) => `${text}$${at}${part}`).trim();
        return ask(text.replace(/\s+/g, " "), values);
      };
      const sql = Object.assign(asked, {
        unsafe: (text: string, values?: readonly unknown[]) => ask(text, values),
        async close() {
          lose(connection, false);
        },
        async begin(...given: [string, Work] | [Work]) {
          const [how, work] = given.length === 2 ? given : ["", ...given];
          await ask(`BEGIN ${how}`);
          try {
            const result = await work(sql as unknown as SQL);
            await ask("COMMIT");
            return result;
          } catch (error) {
            await ask("ROLLBACK");
            throw error;
          }
        },
      });
      return sql as unknown as SQL;
    };
  };
  type Work = (sql: SQL) => Promise<unknown>;

  return {
    opening,
    tables,
    cut: () => connections.size > 0 && lose(world.pick([...connections]), true),
    silence: () => connections.size > 0 && lose(world.pick([...connections]), false),
    /** Takes Postgres down or up: connected nodes learn of it, and nodes cannot connect until it is up. */
    down(is: boolean): void {
      isDown = is;
      if (is) for (const connection of connections) lose(connection, true);
    },
    slow(ms: number): void {
      slow_ms = ms;
    },
    setClockBack(ms: number): void {
      clock_ms -= ms;
    },
    /** Forgets a process that is gone. */
    forget(owner: Owner): void {
      for (const connection of connections) if (connection.owner === owner) lose(connection, false);
    },
    isUp: () => !isDown && slow_ms === 0,
  };
}

const rowsOf = (log: Tables["log"], after: unknown) =>
  [...log]
    .map(([seq, { epoch, frames }]) => ({ seq, epoch, frames }))
    .sort((a, b) => a.seq - b.seq)
    .filter(({ seq }) => seq > (after as number));

function drop<T>(map: Map<number, T>, isGone: (key: number) => boolean): void {
  for (const key of map.keys()) if (isGone(key)) map.delete(key);
}
