import { expect, test } from "bun:test";
import { createClusterReader } from "./cluster.ts";

const cell = {
  cell: "main",
  leader: "a",
  address: "http://10.0.0.5:8443",
  lease_ms: 2900,
  epoch: 4,
  head: 12,
  log: { rows: 2, bytes: 900 },
  pages: { pages: 7, bytes: 9000 },
  spares: [{ name: "b", behind: 0 }],
  projects: [],
};
const failover = { at: "2026-11-23T12:00:00.000Z", detail: "b leads" };

test("concurrent requests share one reading of the cluster, which includes the last failover", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let readings = 0;
  const cells = async () => {
    readings++;
    await promise;
    return [cell];
  };
  const read = createClusterReader({ cluster: { cell: "main", cells }, lastFailover: () => failover });
  const asked = [read(), read()];
  resolve();
  for (const told of await Promise.all([...asked, read()]))
    expect(told).toEqual({ cell: "main", cells: [cell], failover });
  expect(readings).toBe(1);
});

test("an unreachable database server is reported, and the next request tries it again", async () => {
  const answers = [async () => null, async () => Promise.reject(new Error("cut")), async () => [cell]];
  const cells = () => answers.shift()!();
  const read = createClusterReader({ cluster: { cell: "main", cells }, lastFailover: () => null });
  for (const _ of [1, 2]) await expect(read()).rejects.toMatchObject({ code: "cluster_unavailable", retryAfter: 1 });
  expect((await read()).cells).toEqual([cell]);
});

test("one machine has no cluster", async () => {
  const read = createClusterReader({ cluster: null, lastFailover: () => null });
  await expect(read()).rejects.toMatchObject({ status: 404 });
});
