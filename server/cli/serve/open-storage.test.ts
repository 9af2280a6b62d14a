import { expect, test } from "bun:test";
import { silentLog } from "../../lib/log.ts";
import { checkApart, readReserve } from "./open-storage.ts";

const disk = 1000 * 1024 ** 3;

test.each([
  ["512MB", 512 * 1024 ** 2],
  ["1.5gb", 1.5 * 1024 ** 3],
  ["4096", 4096],
  ["0", 0],
  ["5%", disk / 20],
])("--min-free-disk %s is understood", (text, bytes) => {
  expect(readReserve(text)(disk)).toBe(bytes);
});

test.each(["", "much", "-1MB", "5 %%", "1PB", "1e3"])("--min-free-disk %p is a usage error", (text) => {
  expect(() => readReserve(text)).toThrow("--min-free-disk");
});

test("the check of a node's database after a crash does not ask the cluster's leader", async () => {
  process.env.RUNNEL_CLUSTER = "postgres://runnel:secret@db1/runnel";
  try {
    const { promise, resolve } = Promise.withResolvers<string>();
    const found = (detail: string) => `{"findings":[{"check":"integrity","result":"fail","detail":"${detail}"}]}`;
    const command = ["sh", "-c", `printf '%s' '${found("told: ")}' | sed "s|told: |told: $RUNNEL_CLUSTER|"`];
    checkApart({ dir: { path: "", database: "" }, log: silentLog, alarm: { sound: resolve } }, command);
    expect(await promise).toBe("told: ");
  } finally {
    delete process.env.RUNNEL_CLUSTER;
  }
});
