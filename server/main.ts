import { exitCodeOf, exitCodes, explain } from "./cli/exit-code.ts";
import { createProgram } from "./cli/program.ts";

try {
  await createProgram().parseAsync(process.argv);
  process.exitCode ??= exitCodes.done;
} catch (error) {
  const said = explain(error);
  if (said !== null) console.error(said);
  process.exitCode = exitCodeOf(error);
}
