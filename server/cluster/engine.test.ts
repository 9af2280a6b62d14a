import { expect, test } from "bun:test";
import type { SQL } from "bun";
import { createEngine, type OpenConnection, requireEngine } from "./engine.ts";

const silent = Array.from({ length: 12 }, (_, n) => `silent-${n}`);
const url = `postgres://runnel@${[...silent, "standby", "primary"].join()}/runnel`;

/** Opens connections to hosts that say nothing, one that takes no writes, and one that does. */
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
  "a start finds the host that takes writes within 20 seconds, however many others say nothing",
  async () => {
    expect(await requireEngine(url, opening().connect)).toBe("postgres://runnel@primary/runnel");
  },
  start_ms,
);

test(
  "an engine with many silent hosts responds within the patience of one statement, and keeps no other connection",
  async () => {
    const { connect, left } = opening();
    const engine = createEngine(url, { patience_ms: 15_000, name: "many hosts", open: connect });
    const answers = await Promise.all([engine.ask("SELECT 1", []), engine.ask("SELECT 2", [])]);
    expect(answers).toEqual([[{ read_only: "off", host: "primary" }], [{ read_only: "off", host: "primary" }]]);
    expect([left(), engine.fault()]).toEqual([["primary"], null]);
    await engine.close();
    expect(left()).toEqual([]);
  },
  start_ms,
);
