import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { stormCluster } from "../../e2e/cluster/storm.ts";
import { runStorm, type StormReport } from "../../e2e/storm/storm.ts";
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

/** An executable with all faults in it, each asleep until a process is started for it: to compile one takes seconds. */
export async function compileMutants() {
  const folder = mkdtempSync(join(tmpdir(), "runnel-mutants-"));
  const copy = join(folder, "sources");
  mkdirSync(copy);
  for (const name of ["server", "migrations", "package.json", "dist/dashboard", "dist/docs"])
    cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  for (const [file, faults] of Map.groupBy([...mutants, ...clusterMutants, ...unitMutants], ({ file }) => file))
    splitByFault(join(copy, file), faults);
  const program = await compile({ from: copy, outfile: join(folder, "runnel") });
  return {
    /** Lets a storm loose on the executable with one fault awake, until the counter that must see the fault does. */
    run: ({ name, caughtBy }: Mutant, seed: number): Promise<StormReport> =>
      runStorm({ program, environment: { MUTANT: name }, kills: 100, runs: 100, seed, until: caughtBy }),
    /** The same over two nodes in a cell of their own. */
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
    /** Whether the test of the part fails, with the fault awake or asleep. */
    failsTest: async ({ name, test }: UnitMutant, awake: boolean): Promise<boolean> => {
      const env = { ...process.env, MUTANT: awake ? name : "" };
      const [file, title] = test;
      const command = [process.execPath, "test", file, "--test-name-pattern", title];
      return (await Bun.spawn(command, { cwd: copy, env, stdout: "ignore", stderr: "ignore" }).exited) !== 0;
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Puts in a module's place one that exports what stands in it, or in its copy with the fault that the process is for. */
function splitByFault(path: string, faults: readonly Parameters<typeof mutate>[1][]): void {
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
