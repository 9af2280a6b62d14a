import { fileURLToPath } from "node:url";
import { isCompiled } from "../../lib/assets.ts";
import { type ChildOrder, childCommand } from "./child-order.ts";
import { becomeJailed } from "./jail.ts";
import { languages } from "./languages.ts";

/** First stage of a child: becomes the second one or exits, because nothing may run in half a jail. */
export function enterJail(order: ChildOrder): never {
  // When run from source, the second stage reads its sources and packages again.
  const sources = isCompiled ? [] : [fileURLToPath(new URL("../../..", import.meta.url))];
  const needs = { ...languages[order.language], readable: sources };
  try {
    becomeJailed(childCommand("run", order), needs, order.parent);
  } catch (error) {
    console.error(error);
    process.exit(1);
  }
}
