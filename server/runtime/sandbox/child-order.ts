import { fileURLToPath } from "node:url";
import { isCompiled } from "../../lib/assets.ts";
import type { ChildLanguage } from "./languages.ts";
import type { SystemPython } from "./system-python.ts";

/**
 * Stages of a child, as hidden commands: `jail` gives up its privileges and becomes `run`, which runs a program; `bare`
 * runs it if there is no jail.
 */
export const childStages = { jail: "sandbox-jail", run: "sandbox-run", bare: "sandbox-bare" } as const;

/** Hidden command that prints, as JSON, the forbidden actions that a child can perform. */
export const selfTestCommand = "sandbox-self-test";

/** A child's start arguments, visible to other processes: nothing secret. */
export interface ChildOrder {
  language: ChildLanguage;
  parent: number;
  /** The interpreter of `system-python`. */
  python?: SystemPython;
  /** Only for tests of the jail: Python can reach the JavaScript around it, like a program that has broken out. */
  isOpen?: boolean;
}

/** Returns the command that starts a child: the executable itself, or the runtime with {@link file://./child.ts}. */
export function childCommand(stage: keyof typeof childStages, order: ChildOrder): string[] {
  const entry = isCompiled ? [] : [fileURLToPath(new URL("child.ts", import.meta.url))];
  return [process.execPath, ...entry, childStages[stage], JSON.stringify(order)];
}
