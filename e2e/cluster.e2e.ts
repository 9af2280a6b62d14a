import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqlAt, startPostgres } from "../server/testing/postgres.ts";
import { stormCluster } from "./cluster/storm.ts";
import { runCommand } from "./harness.ts";

const cleaned = (): Record<string, string> =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("RUNNEL_"))) as Record<
    string,
    string
  >;

// What is promised of a cluster, on the executable, with a Postgres and its synchronous standby. The long form is
// `npm run storm -- --cluster`.

describe.if(startPostgres.orSkipped("the storm over a cluster"))("a cluster", () => {
  test("loses no run, repeats no completed step and leaves no gap when leaders and the engine die under it", async () => {
    const { counters, figures, logs } = await stormCluster({
      ...{ runs: 24, ways: ["killed", "unheard", "unheard", "killed", "paused", "failedOver"] },
    });
    console.info(JSON.stringify(figures));
    expect({ counters, logs: Object.values(counters).some(Boolean) ? logs : "" }).toEqual({
      counters: { lost: 0, repeated: 0, unsafe: 0, gaps: 0, unfenced: 0, refused: 0, damaged: 0 },
      logs: "",
    });
    // A storm that hit nothing would pass as well.
    expect(figures).toMatchObject({ runs: 24, rounds: 6 });
    expect(figures.fenced).toBeGreaterThan(0);
    expect(figures.broken_streams).toBeGreaterThan(0);
  }, 240_000);

  test("a start that cannot take part says why in one line, with code 78", async () => {
    await using postgres = await startPostgres();
    const { url } = postgres.primary;
    const folder = mkdtempSync(join(tmpdir(), "runnel-refused-"));
    const start = async (cluster: string, masterKey = "1".repeat(64)) => {
      const args = [
        "serve",
        "--port",
        "0",
        "--insecure-http",
        "--data-dir",
        join(folder, "data"),
        "--cluster",
        cluster,
      ];
      const { code, stderr } = await runCommand(args, { env: { ...cleaned(), RUNNEL_MASTER_KEY: masterKey } });
      expect(stderr.trim().split("\n")).toHaveLength(1);
      return { code, said: stderr.trim() };
    };
    expect(await start("nonsense")).toEqual({ code: 78, said: expect.stringContaining("--cluster takes postgres://") });
    expect(await start(url, "")).toEqual({ code: 78, said: expect.stringContaining("RUNNEL_MASTER_KEY") });
    expect(await start(url.replace("runnel@", "nobody@"))).toEqual({
      code: 78,
      said: expect.stringContaining("nobody"),
    });
    expect(await start(url.replace("/postgres", "/none"))).toEqual({ code: 78, said: expect.stringContaining("none") });
    expect(await start("postgres://runnel@127.0.0.1:1/postgres")).toEqual({
      code: 78,
      said: expect.stringContaining("The engine cannot be used"),
    });
    await sqlAt(url, "CREATE TABLE runnel_cells (id text)");
    await sqlAt(url, "CREATE TABLE runnel_nodes (id text)");
    expect(await start(url)).toEqual({ code: 78, said: expect.stringContaining("another version of runnel") });
    rmSync(folder, { recursive: true });
  }, 120_000);
});
