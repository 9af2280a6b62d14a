import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { inProject } from "../root.ts";
import { clusterMutants, mutants, mutate, unitMutants } from "./mutants.ts";

test.each([...mutants, ...clusterMutants, ...unitMutants].map((mutant) => [mutant.name, mutant] as const))(
  "the mutant “%s” still applies",
  (_, mutant) => {
    const source = readFileSync(inProject(mutant.file), "utf8");
    const mutated = mutate(source, mutant);
    expect(mutated).not.toBe(source);
    expect(() => new Bun.Transpiler({ loader: "ts" }).transformSync(mutated)).not.toThrow();
  },
);

test("a mutant that matches nowhere, or twice, is refused", () => {
  const mutant = { ...mutants[0]!, find: "a" };
  expect(() => mutate("b", mutant)).toThrow("0 places");
  expect(() => mutate("a a", mutant)).toThrow("2 places");
});
