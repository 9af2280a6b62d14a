/// <reference path="./python-modules.d.ts" />

import { bounds } from "./bounds.ts";
import startSource from "./cpython-start.py" with { type: "text" };
import { packetKinds } from "./packet.ts";
import driverSource from "./python-driver.py" with { type: "text" };
import { filterOfNative } from "./seccomp.ts";
import jailSource from "./system-python.py" with { type: "text" };
import type { SystemPython } from "./system-python.ts";

/** System calls that Python has no function for, and a number that it does not export. */
const callNumbers = process.arch === "x64" ? { pivot_root: 155, capset: 126 } : { pivot_root: 41, capset: 91 };

/**
 * Returns the command of an interpreter that closes its own jail, and then runs one program. Its process keeps its id
 * until then.
 */
export function systemPythonCommand({ executable, readable }: SystemPython, parent: number): string[] {
  const order = {
    parent,
    folders: readable,
    kinds: Object.fromEntries(packetKinds.map((kind, number) => [kind, number])),
    calls: { ...callNumbers, F_SETSIG: 10 },
    filter: filterOfNative(process.pid).toBase64(),
    start: startSource,
    driver: driverSource,
    printed_most: bounds.printed,
    result_most: bounds.result,
    message_most: bounds.message,
    output_most: bounds.output,
    files_most: bounds.files,
    depth_most: bounds.depth,
  };
  return [executable, "-I", "-B", "-c", jailSource, JSON.stringify(order)];
}
