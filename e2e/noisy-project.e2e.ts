import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { startRunnel } from "./harness.ts";
import type { Order, Report } from "./noisy/attacks.ts";
import { quantile, quietProject, startBareServer, timeVisits } from "./noisy/visits.ts";
import { figuresAvailable, residentBytes, serverPid } from "./process-figures.ts";

// One project runs every attack at once for a minute, with a valid key and the default limits, while another one works
// as before. The latencies are printed beside those of an idle server in another process of the same machine. The
// attackers stand for other machines, so they run at low priority. The test fails if the server stalls, uses more
// memory than the bound, or loses data.

// The goal is a p99 of three times the idle latency. Two cores do not reach it (see scripts/bench/README.md), and of
// fifty visits the p99 is the longest one, a single slow write to the disk. So nine of ten visits must stay below these
// limits: about four times the values seen on a loaded machine, and far less than with a queue that serves one project
// first, where a read took a minute and a search as long as a batch.
const most_ms: Record<string, number> = { read: 400, run: 1500, webhook: 500, code: 2500, search: 3000 };

const alone_seconds = 5;
const noisy_seconds = 60;
// Measured are 413 to 613 MiB, on machines with much other work; without the bound 1,004 to 1,142.
const mostResident_bytes = 768 * 1024 ** 2;

test.skipIf(!figuresAvailable)(
  "another project continues while one attacks for a minute, and nothing is lost",
  async () => {
    await using server = await startRunnel();
    using quiet = await quietProject(server);
    await using bare = await startBareServer();
    const visits = { ...quiet.visits, "a server that does nothing": bare.visit };
    const during = (seconds: number) => {
      const ends = Date.now() + seconds * 1000;
      return timeVisits(visits, () => Date.now() < ends);
    };
    await during(2);
    const alone = await during(alone_seconds);

    const { stdout } = await server.command(
      "keys",
      "create",
      "--project",
      "noisy",
      "--create-project",
      "--env",
      "test",
      "--scopes",
      "admin",
      "--json",
    );
    const order: Order = { url: server.url, ca: server.ca!, key: JSON.parse(stdout).secret, seconds: noisy_seconds };
    const attacks = join(import.meta.dir, "noisy/attacks.ts");
    const noise = Bun.spawn([process.execPath, attacks, JSON.stringify(order)], { stdout: "pipe" });
    const said = new Response(noise.stdout).text();
    let peak = 0;
    const pid = serverPid(server.dataDir);
    const look = setInterval(() => {
      peak = Math.max(peak, residentBytes(pid));
    }, 100);
    const beside = await during(noisy_seconds).finally(() => clearInterval(look));
    const report: Report = JSON.parse(await said);
    print(alone, beside, peak, report);

    expect(report.faults).toEqual([]);
    const p90 = Object.keys(most_ms).map((name) => ({ name, ms: quantile(beside[name]!, 0.9) }));
    expect(p90.filter(({ name, ms }) => !(ms <= most_ms[name]!))).toEqual([]);
    expect(peak).toBeLessThan(mostResident_bytes);
    expect(quiet.unheard()).toEqual([]);
    expect(await server.stop()).toBe(0);
    using sqlite = new Database(join(server.dataDir, "runnel.db"), { readonly: true });
    expect(sqlite.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
    const known = new Set(sqlite.query("SELECT id FROM runs").values().flat());
    expect(known.size).toBeGreaterThan(quiet.runs().length);
    expect([...quiet.runs(), ...report.runs].filter((id) => !known.has(id))).toEqual([]);
    const gaps = sqlite.query("SELECT run_id FROM run_events GROUP BY run_id HAVING max(seq) <> count(*)");
    expect(gaps.values()).toEqual([]);
  },
  240_000,
);

function print(alone: Record<string, number[]>, beside: Record<string, number[]>, peak: number, report: Report): void {
  const ms = (times: number[]) =>
    `n ${times.length}, p50 ${quantile(times, 0.5).toFixed(0)} ms, p90 ${quantile(times, 0.9).toFixed(0)} ms, p99 ${quantile(times, 0.99).toFixed(0)} ms`;
  const lines = Object.keys(alone).map((name) => `${name}: alone ${ms(alone[name]!)}; beside ${ms(beside[name]!)}`);
  lines.push(`peak ${Math.round(peak / 2 ** 20)} MiB`, JSON.stringify(report.statuses));
  process.stdout.write(`${lines.join("\n")}\n`);
}
