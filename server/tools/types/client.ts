import { parameterFaults, timeoutFaults } from "./fields.ts";
import type { ToolKind } from "./tool-kind.ts";

/** A call that the client's own code makes: the run waits for its output. */
export const clientKind: ToolKind = {
  fields: {},
  faults: (input) => [...timeoutFaults(input), ...parameterFaults(input)],
  change: () => ({}),
  show: () => ({}),
  call: () => ({ idempotent: false }),
  untestable: "A client tool is your own code: nothing of it runs here.",
};
