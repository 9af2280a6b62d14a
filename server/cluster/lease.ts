import type { SQL } from "bun";
import { ClusterError } from "./cluster-error.ts";

/** What a node says of itself when it takes a cell. */
export interface Candidate {
  cell: string;
  /** Of this node, unlike all others. */
  name: string;
  /** Where the other nodes reach it. */
  address: string;
  certificate: string;
  ttl_ms: number;
  master_key_id: string;
  /** Of its database: how many migrations it knows. */
  version: number;
}

/** A cell as the engine has it. */
export interface CellRow {
  epoch: number;
  head: number;
  base: number;
  base_epoch: number;
  /** Of its database. */
  version: number;
  leader: string;
  address: string;
  /** What the leader's certificate is verified by; empty for plain HTTP. */
  certificate: string;
  /** Whether nobody holds it, by the engine's clock. */
  free: boolean;
  lease_ms: number;
  /** When the lease ends, as the engine writes it: another one after each renewal. */
  lease_until: string;
}

/** The lease, counted from now by the engine's clock. */
export const leased = (ttl_ms: number): string => `lease_until = clock_timestamp() + ${ttl_ms} * interval '1 ms'`;

/** Null for a cell that was never led. Throws `ClusterError` when this node may not take part in it. */
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

/** A cell that got another leader because the one before it had gone silent. Times by the engine's clock. */
export interface Failover {
  cell: string;
  epoch: number;
  leader: string;
  previous_leader: string;
  /** When the lease of the former leader ran out. */
  lease_ended_ms: number;
  led_ms: number;
}

interface Claimed {
  epoch: number;
  head: number;
  /** Null where the leader before had given the cell up, or there was none. */
  failover: Failover | null;
}

/**
 * Takes the cell when nobody holds it: what an older epoch still sends is refused from here on. Null: somebody does. A
 * lease that is over by the candidate's own clock counts as over until it is renewed, wherever the engine's clock is.
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

/** Lets the next node have the cell at once. */
export async function release(sql: SQL, cell: string, epoch: number): Promise<void> {
  await sql.unsafe("UPDATE runnel_cells SET lease_until = '-infinity' WHERE id = $1 AND epoch = $2", [cell, epoch]);
}

/** Notes that a spare is there, and which row its copy has got to. */
export async function noteSpare(sql: SQL, { cell, name }: Candidate, applied: number): Promise<void> {
  await sql.unsafe(
    `INSERT INTO runnel_nodes (cell, name, seen_at, applied) VALUES ($1, $2, clock_timestamp(), $3)
     ON CONFLICT (cell, name) DO UPDATE SET seen_at = excluded.seen_at, applied = excluded.applied`,
    [cell, name, applied],
  );
  await sql.unsafe("DELETE FROM runnel_nodes WHERE seen_at < clock_timestamp() - interval '1 hour'");
}
