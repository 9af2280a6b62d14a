import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { $ } from "bun";
import { runStorm, type StormReport } from "../../e2e/chaos/storm.ts";
import { stormCluster } from "../../e2e/cluster/storm.ts";
import type { Postgres } from "../../server/testing/postgres.ts";
import { compile } from "../build.ts";
import { inProject, root } from "../root.ts";
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
  for (const name of [
    "server",
    "migrations",
    "package.json",
    "scripts/tsconfig.base.json",
    "dist/dashboard",
    "dist/docs",
  ])
    cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  const modules = [...Map.groupBy([...mutants, ...clusterMutants, ...unitMutants], ({ file }) => file)].map(
    ([file, faults]) => ({ path: join(copy, file), faults, copies: writeCopies(join(copy, file), faults) }),
  );
  await checkTypes(
    copy,
    modules.flatMap(({ copies }) => copies),
  );
  for (const module of modules) writeFaultSwitch(module);
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

type Faults = readonly Parameters<typeof mutate>[1][];

/** Writes copies of a module: the original first, then one with each fault. Returns their paths. */
function writeCopies(path: string, faults: Faults): string[] {
  const source = readFileSync(path, "utf8");
  return [source, ...faults.map((fault) => mutate(source, fault))].map((text, at) => {
    const copy = path.replace(/\.ts$/, `.${at}.ts`);
    writeFileSync(copy, text);
    return copy;
  });
}

/** A copy with an error of type may fail before its fault does anything, and then no storm would detect the fault. */
async function checkTypes(folder: string, files: readonly string[]): Promise<void> {
  const config = { extends: "./scripts/tsconfig.base.json", files, include: ["server/**/*.d.ts", "migrations/*.d.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const { exitCode, stdout } = await $`${inProject("node_modules/.bin/tsc")} --noEmit -p ${folder}`.nothrow().quiet();
  if (exitCode !== 0) throw new Error(`Faults do not type-check:\n${stdout}`);
}

/** Replaces a module by one that exports its original, or its copy with the process's fault. */
function writeFaultSwitch({ path, faults, copies }: { path: string; faults: Faults; copies: readonly string[] }): void {
  const names = new Bun.Transpiler({ loader: "ts" }).scan(readFileSync(path, "utf8")).exports.join(", ");
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
