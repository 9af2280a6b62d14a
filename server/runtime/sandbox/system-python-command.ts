/// <reference path="./python-modules.d.ts" />

import { deflateSync } from "node:zlib";
import { workspaceFolder, workspaceLimits } from "../../domain/workspace-limits.ts";
import { bounds, packageVariables_ms } from "./bounds.ts";
import cloudpickleSource from "./cloudpickle.py" with { type: "text" };
import startSource from "./cpython-start.py" with { type: "text" };
import { packetKinds } from "./packet.ts";
import driverSource from "./python-driver.py" with { type: "text" };
import variablesSource from "./python-variables.py" with { type: "text" };
import { restoredFile, savedFile, variablesRoom } from "./saved-variables.ts";
import { filterOfNative } from "./seccomp.ts";
import jailSource from "./system-python.py" with { type: "text" };
import type { SystemPython } from "./system-python.ts";

/** System calls that Python has no function for, and a number that it does not export. */
const callNumbers = process.arch === "x64" ? { pivot_root: 155, capset: 126 } : { pivot_root: 41, capset: 91 };

// The system limits the length of an argument.
const modules = deflateSync(
  JSON.stringify({ cloudpickle: cloudpickleSource, program_variables: variablesSource }),
).toString("base64");

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
    modules,
    workspace: workspaceFolder,
    workspace_limits: workspaceLimits,
    restored_file: restoredFile,
    saved_file: savedFile,
    variables_most: variablesRoom,
    variables_ms: packageVariables_ms,
    printed_most: bounds.printed,
    result_most: bounds.result,
    message_most: bounds.message,
    output_most: bounds.output,
    files_most: bounds.files,
    depth_most: bounds.depth,
  };
  return [executable, "-I", "-B", "-c", jailSource, JSON.stringify(order)];
}
