import { parameterFaults } from "./fields.ts";
import type { ToolKind } from "./tool-kind.ts";

/** A call that the client's code makes: the run waits for its output. */
export const kind: ToolKind = {
  fields: {},
  response: {},
  faults: parameterFaults,
  change: () => ({}),
  show: () => ({}),
  snapshot: (base) => ({ ...base, type: "client", idempotent: false, http: null }),
  untestable: "A client tool runs in your own code, so it cannot be called here.",
};
