import { parameterFaults } from "./fields.ts";
import type { CommonDefinition, Given, ToolKind } from "./tool-kind.ts";

/** A call that the client's code makes: the run waits for its output. */
export const kind = {
  fields: {},
  response: {},
  faults: parameterFaults,
  change: () => ({}),
  show: () => ({}),
  call: () => ({ idempotent: false }),
  untestable: "A client tool runs in your own code, so it cannot be called here.",
} satisfies ToolKind<Given, CommonDefinition>;
