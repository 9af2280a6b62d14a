import { fileURLToPath } from "node:url";
import { isCompiled } from "../lib/assets.ts";
import { type ChildOrder, childCommand } from "./child-order.ts";
import { becomeJailed } from "./jail.ts";
import { languages } from "./languages.ts";

/** The first life of a child. It ends in the second one, or in an exit: nothing runs in half a jail. */
export function enterJail(order: ChildOrder): never {
  // A run from source reads its sources, and the packages, once more.
  const sources = isCompiled ? [] : [fileURLToPath(new URL("../..", import.meta.url))];
  const needs = { ...languages[order.language], readable: sources };
  try {
    becomeJailed(childCommand("run", order), needs, order.parent);
  } catch (error) {
    console.error(error);
    process.exit(1);
  }
}
