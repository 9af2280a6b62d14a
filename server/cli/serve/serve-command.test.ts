import { describe, expect, test } from "bun:test";
import { createProgram } from "../program.ts";
import { flagsByGroup } from "./setting-groups.ts";
import { internalVariables, variableOf } from "./variables.ts";

const program = createProgram();
const serve = program.commands.find((command) => command.name() === "serve")!;
const help = serve.helpInformation();

describe("serve --help", () => {
  test("has every flag below the heading of its group, in the groups' order", () => {
    const grouped = flagsByGroup(serve);
    expect(grouped.flatMap(({ flags }) => flags)).toEqual([...serve.options]);
    const headings = [...help.matchAll(/^[A-Z][^:\n]+:$/gm)].map(([heading]) => heading);
    expect(headings).toEqual(grouped.map(({ group }) => `${group}:`));
    const inHelp = [...help.matchAll(/^ {2}(--[\w-]+)/gm)].map(([, long]) => long!);
    expect(inHelp).toEqual(serve.options.map(({ long }) => long!));
  });

  test("tells the default, or an example, of every flag that has a value", () => {
    const silent = serve.options.filter(
      (option) => option.required && !/\((?:values: [^)]*; )?(?:default|example): /.test(entryOf(option.flags)),
    );
    expect(silent.map(({ long }) => long)).toEqual([]);
    expect(entryOf("--backup-every <time>")).toContain("default: 24h; env: RUNNEL_BACKUP_EVERY");
  });

  test("has no variable that is not a setting", () => {
    const all = `${help}${program.helpInformation()}`;
    for (const name of internalVariables) {
      expect(all).not.toContain(name);
      expect(variableOf(name)).toBeUndefined();
    }
  });
});

/** Returns what the help says about a flag, on one line. */
function entryOf(flags: string): string {
  const [, entry = ""] = help.split(`\n  ${flags} `);
  return entry.split(/\n {2}-|\n\n/)[0]!.replace(/\s+/g, " ");
}
