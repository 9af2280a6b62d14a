import type { SQL } from "bun";
import { ClusterError } from "./cluster-error.ts";

/** A node that wants to lead a cell. */
export interface Candidate {
  cell: string;
  /** Name of this node, unique among nodes. */
  name: string;
  /** Address at which other nodes reach it. */
  address: string;
  certificate: string;
  ttl_ms: number;
  master_key_id: string;
  /** Database version: number of migrations that this node knows. */
  version: number;
}

/** Row of a cell in Postgres. */
export interface CellRow {
  epoch: number;
  head: number;
  base: number;
  base_epoch: number;
  /** Version of the cell's database. */
  version: number;
  leader: string;
  address: string;
  /** Certificate that verifies the leader; empty for plain HTTP. */
  certificate: string;
  /** True if the lease is over, by Postgres's clock. */
  free: boolean;
  lease_ms: number;
  /** End of the lease as Postgres formats it: changes with each renewal. */
  lease_until: string;
}

/** SQL that sets the lease, counted from now by Postgres's clock. */
export const leased = (ttl_ms: number): string => `lease_until = clock_timestamp() + ${ttl_ms} * interval '1 ms'`;

/** Returns null for a cell that never had a leader. Throws `ClusterError` if this node may not take part in it. */
export async function readCell(sql: SQL, { cell, master_key_id, version }: Candidate): Promise<CellRow | null> {
  const [row] = await sql.unsafe(
    `SELECT epoch, head, base, base_epoch, leader, address, certificate, master_key_id, version,
       lease_until < clock_timestamp() AS free,
       greatest(0, extract(epoch FROM greatest(lease_until, 'epoch') - clock_timestamp()) * 1000)::bigint AS lease_ms,
       lease_until::text
     FROM runnel_cells WHERE id = $1`,
    [cell],
  );
  if (!row) return null;
  if (row.master_key_id !== master_key_id)
    throw new ClusterError(
      `The cell "${cell}" belongs to nodes with another RUNNEL_MASTER_KEY (${row.master_key_id}, here ${master_key_id}).`,
    );
  if (Number(row.version) > version)
    throw new ClusterError(
      `The cell "${cell}" is of a newer runnel: its database is of version ${row.version}, and this node knows ${version}.`,
    );
  const { leader, address, certificate, free, lease_until } = row;
  return {
    leader,
    address,
    certificate,
    free,
    lease_until,
    epoch: Number(row.epoch),
    head: Number(row.head),
    base: Number(row.base),
    base_epoch: Number(row.base_epoch),
    version: Number(row.version),
    lease_ms: Number(row.lease_ms),
  };
}

/** A change of leader because the previous one had gone silent. Times by Postgres's clock. */
export interface Failover {
  cell: string;
  epoch: number;
  leader: string;
  previous_leader: string;
  /** End of the previous leader's lease. */
  lease_ended_ms: number;
  led_ms: number;
}

interface Claimed {
  epoch: number;
  head: number;
  /** Null if the previous leader had released the cell, or there was none. */
  failover: Failover | null;
}

/**
 * Claims the cell if it is free, which fences the rows of older epochs. Returns null if it has a leader. `over` is the
 * end of a lease that is over by the candidate's own clock: it counts as over unless it was renewed, whatever
 * Postgres's clock says.
 */
export async function claim(sql: SQL, candidate: Candidate, over: string | null = null): Promise<Claimed | null> {
  const { cell, name, address, certificate, ttl_ms, master_key_id, version } = candidate;
  await sql.unsafe(
    `INSERT INTO runnel_cells (id, leader, address, certificate, epoch, lease_until, head, base, base_epoch, master_key_id, version)
     VALUES ($1, '', '', '', 0, '-infinity', 0, 0, 0, $2, $3) ON CONFLICT DO NOTHING`,
    [cell, master_key_id, version],
  );
  const [row] = await sql.unsafe(
    `UPDATE runnel_cells AS cell SET epoch = cell.epoch + 1, leader = $2, address = $3, certificate = $6, version = $5,
       ${leased(ttl_ms)}
     FROM runnel_cells AS before
     WHERE cell.id = $1 AND before.id = cell.id AND (cell.lease_until < clock_timestamp() OR cell.lease_until::text = $7) AND cell.master_key_id = $4
       AND cell.version <= $5
     RETURNING cell.epoch, cell.head, before.leader AS previous, ${inMs("clock_timestamp()")} AS led_ms,
       CASE WHEN before.lease_until > '-infinity' THEN ${inMs("before.lease_until")} END AS ended_ms`,
    [cell, name, address, master_key_id, version, certificate, over],
  );
  if (!row) return null;
  const [epoch, head] = [Number(row.epoch), Number(row.head)];
  const times = { lease_ended_ms: Number(row.ended_ms), led_ms: Number(row.led_ms) };
  const failover = row.ended_ms && { cell, epoch, leader: name, previous_leader: row.previous, ...times };
  return { epoch, head, failover };
}

const inMs = (time: string): string => `(extract(epoch FROM ${time}) * 1000)::bigint`;

/** Ends the lease, so that the next node can claim the cell at once. */
export async function release(sql: SQL, cell: string, epoch: number): Promise<void> {
  await sql.unsafe("UPDATE runnel_cells SET lease_until = '-infinity' WHERE id = $1 AND epoch = $2", [cell, epoch]);
}

/** Records that a spare is alive, and the row that its replica has reached. */
export async function noteSpare(sql: SQL, { cell, name }: Candidate, applied: number): Promise<void> {
  await sql.unsafe(
    `INSERT INTO runnel_nodes (cell, name, seen_at, applied) VALUES ($1, $2, clock_timestamp(), $3)
     ON CONFLICT (cell, name) DO UPDATE SET seen_at = excluded.seen_at, applied = excluded.applied`,
    [cell, name, applied],
  );
  await sql.unsafe("DELETE FROM runnel_nodes WHERE seen_at < clock_timestamp() - interval '1 hour'");
}
