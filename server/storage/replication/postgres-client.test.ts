import { expect, test } from "bun:test";
import type { SQL } from "bun";
import { createPostgresClient, type OpenConnection, requirePostgres } from "./postgres-client.ts";

const silent = Array.from({ length: 12 }, (_, n) => `silent-${n}`);
const url = `postgres://runnel@${[...silent, "standby", "primary"].join()}/runnel`;

/** Opens connections to silent hosts, a read-only one, and a writable one. */
function opening() {
  const open = new Map<string, number>();
  const count = (host: string, by: number) => open.set(host, (open.get(host) ?? 0) + by);
  const connect = ({ url }: SQL.Options) => {
    const host = new URL(String(url)).hostname;
    count(host, 1);
    const read_only = host === "primary" ? "off" : "on";
    return {
      unsafe: () => (host.startsWith("silent") ? new Promise(() => {}) : Promise.resolve([{ read_only, host }])),
      close: async () => void count(host, -1),
    };
  };
  return {
    connect: connect as unknown as OpenConnection,
    left: () => [...open].filter(([, count]) => count > 0).map(([host]) => host),
  };
}

const start_ms = 20_000;

test(
  "a start finds the writable host within 20 seconds, however many others are silent",
  async () => {
    expect(await requirePostgres(url, opening().connect)).toBe("postgres://runnel@primary/runnel");
  },
  start_ms,
);

test(
  "Postgres with many silent hosts responds within the patience of one statement, and no other connection stays open",
  async () => {
    const { connect, left } = opening();
    const engine = createPostgresClient(url, { patience_ms: 15_000, name: "many hosts", open: connect });
    const answers = await Promise.all([engine.ask("SELECT 1", []), engine.ask("SELECT 2", [])]);
    expect(answers).toEqual([[{ read_only: "off", host: "primary" }], [{ read_only: "off", host: "primary" }]]);
    expect([left(), engine.fault()]).toEqual([["primary"], null]);
    await engine.close();
    expect(left()).toEqual([]);
  },
  start_ms,
);
