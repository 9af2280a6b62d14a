import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { runStorm, type StormReport } from "../../e2e/chaos/storm.ts";
import { stormCluster } from "../../e2e/cluster/storm.ts";
import type { Postgres } from "../../server/testing/postgres.ts";
import { compile } from "../build.ts";
import { root } from "../root.ts";
import {
  type ClusterMutant,
  clusterMutants,
  type Mutant,
  mutants,
  mutate,
  type UnitMutant,
  unitMutants,
} from "./mutants.ts";

/**
 * Compiles an executable with all faults in it, each inactive until a process is started for it, because compiling one
 * takes seconds.
 */
export async function compileMutants() {
  const folder = mkdtempSync(join(tmpdir(), "runnel-mutants-"));
  const copy = join(folder, "sources");
  mkdirSync(copy);
  for (const name of ["server", "migrations", "package.json", "dist/dashboard", "dist/docs"])
    cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  for (const [file, faults] of Map.groupBy([...mutants, ...clusterMutants, ...unitMutants], ({ file }) => file))
    writeFaultSwitch(join(copy, file), faults);
  const program = await compile({ from: copy, outfile: join(folder, "runnel") });
  return {
    /** Runs a storm on the executable with one fault active, until its counter detects the fault. */
    run: ({ name, caughtBy }: Mutant, seed: number): Promise<StormReport> =>
      runStorm({ program, environment: { MUTANT: name }, kills: 100, runs: 100, seed, until: caughtBy }),
    /** Runs the same over two nodes in their own cell. */
    runCluster: ({ name, caughtBy, ways }: ClusterMutant, postgres: Postgres, cell: string) =>
      stormCluster({
        program,
        environment: { MUTANT: name },
        nodes: 2,
        postgres,
        cell,
        runs: 48,
        ways: Array.from({ length: 8 }, () => ways).flat(),
        until: caughtBy,
      }),
    /** True if the module's test fails, with the fault active or inactive. */
    failsTest: async ({ name, test }: UnitMutant, awake: boolean): Promise<boolean> => {
      const env = { ...process.env, MUTANT: awake ? name : "" };
      const [file, title] = test;
      const command = [process.execPath, "test", "--timeout=60000", file, "--test-name-pattern", title];
      return (await Bun.spawn(command, { cwd: copy, env, stdout: "ignore", stderr: "ignore" }).exited) !== 0;
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Replaces a module by one that exports its original, or its copy with the process's fault. */
function writeFaultSwitch(path: string, faults: readonly Parameters<typeof mutate>[1][]): void {
  const source = readFileSync(path, "utf8");
  const sources = [source, ...faults.map((fault) => mutate(source, fault))];
  const copies = sources.map((_, at) => path.replace(/\.ts$/, `.${at}.ts`));
  for (const [at, text] of sources.entries()) writeFileSync(copies[at]!, text);
  const names = new Bun.Transpiler({ loader: "ts" }).scan(source).exports.join(", ");
  writeFileSync(
    path,
    [
      `export type * from "./${basename(copies[0]!)}";`,
      ...copies.map((copy, at) => `import * as copy${at} from "./${basename(copy)}";`),
      `const copies = { ${faults.map(({ name }, at) => `${JSON.stringify(name)}: copy${at + 1}`).join(", ")} };`,
      `const { ${names} } = copies[process.env.MUTANT] ?? copy0;`,
      `export { ${names} };`,
    ].join("\n"),
  );
}
