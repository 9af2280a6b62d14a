import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { behaviours } from "../../testing/provider-matrix/behaviours.ts";
import { matrix } from "../../testing/provider-matrix/matrix.ts";

type Bodies = Record<string, string[]>;

/** Recorded request bodies of a provider, by the behaviour's name; `RECORD=1` records them. */
function recordOf(provider: string) {
  const file = `${import.meta.dir}/__fixtures__/requests/matrix-${provider.toLowerCase().replaceAll(/\W+/g, "-")}.json`;
  const read = (): Bodies => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {});
  return {
    read,
    write(name: string, bodies: string[]): void {
      const all: Bodies = { ...read(), [name]: bodies };
      const sorted = Object.fromEntries(
        behaviours.flatMap((each) => (all[each.name] ? [[each.name, all[each.name]]] : [])),
      );
      writeFileSync(file, `${JSON.stringify(sorted, null, 2)}\n`);
    },
  };
}

describe.each(matrix.map((entry) => [entry.name, entry] as const))("%s", (provider, entry) => {
  const record = recordOf(provider);
  const offered = behaviours.filter(({ isOffered }) => isOffered?.(entry) ?? true);

  test.each(offered.map((behaviour) => [behaviour.title, behaviour] as const))("%s", async (_, { name, check }) => {
    const bodies = await check(entry);
    if (process.env.RECORD) record.write(name, bodies);
    expect(bodies).toEqual(record.read()[name] ?? []);
  });
});
