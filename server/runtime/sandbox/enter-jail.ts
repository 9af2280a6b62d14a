import { fileURLToPath } from "node:url";
import { isCompiled } from "../../lib/assets.ts";
import { type ChildOrder, childCommand } from "./child-order.ts";
import { becomeJailed, becomeNative } from "./jail.ts";
import { languages } from "./languages.ts";
import { systemPythonCommand } from "./system-python-command.ts";

/** Maximum bytes of a file of a native interpreter. Its folders are in memory, and smaller in all. */
const file_bytes = 64 * 2 ** 20;

/** First stage of a child: becomes the second one or exits, because nothing may run in half a jail. */
export function enterJail(order: ChildOrder): never {
  // When run from source, the second stage reads its sources and packages again.
  const sources = isCompiled ? [] : [fileURLToPath(new URL("../../..", import.meta.url))];
  const needs = { ...languages[order.language], readable: sources };
  try {
    if (order.python)
      becomeNative(systemPythonCommand(order.python, order.parent), { ...needs, file_bytes }, order.parent);
    becomeJailed(childCommand("run", order), needs, order.parent);
  } catch (error) {
    console.error(error);
    process.exit(1);
  }
}
