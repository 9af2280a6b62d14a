import { fileURLToPath } from "node:url";
import { isCompiled } from "../lib/assets.ts";
import type { ChildLanguage } from "./languages.ts";

/**
 * The lives of a child, as hidden commands: in `jail` it gives up its rights and becomes `run`, which runs a program;
 * `bare` does so where there is no jail.
 */
export const childStages = { jail: "sandbox-jail", run: "sandbox-run", bare: "sandbox-bare" } as const;

/** Hidden command: says what a child can do that it must not, as JSON. */
export const selfTestCommand = "sandbox-self-test";

/** What a child is told before it has a program: nothing of this is secret. */
export interface ChildOrder {
  language: ChildLanguage;
  parent: number;
  /** For tests of the jail: Python reaches the runtime around it, as a program does that has broken out of it. */
  isOpen?: boolean;
}

/** How this process starts a child of itself: the executable, or the runtime and {@link file://./child.ts}. */
export function childCommand(stage: keyof typeof childStages, order: ChildOrder): string[] {
  const entry = isCompiled ? [] : [fileURLToPath(new URL("child.ts", import.meta.url))];
  return [process.execPath, ...entry, childStages[stage], JSON.stringify(order)];
}
