import { createEgress, type EgressPolicy } from "../lib/egress.ts";
import type { ToolContext } from "../runtime/agent-loop/tools/context.ts";

interface ContextOptions extends Partial<ToolContext> {
  policy?: Partial<EgressPolicy>;
}

const unused = (name: string) => () => Promise.reject(new Error(`The tool needs no ${name}.`));

/** Dependencies of a tool's runner: a real egress guard, and nothing else but what is given. */
export function toolContext({ policy, ...given }: ContextOptions = {}): ToolContext {
  return {
    run_id: "run_1",
    owner: "project",
    standing: () => {
      throw new Error("The tool needs no budget.");
    },
    recorded: Promise.resolve(),
    secrets: unused("secrets"),
    accessToken: async () => null,
    hidden: () => [],
    egress: createEgress({ allow: [], loopback: true, ...policy }),
    ask: unused("answer of the main thread"),
    keepFile: unused("place for files"),
    readFile: async () => "missing",
    fileIds: [],
    sandbox: { run: unused("program") },
    readDocument: unused("document"),
    mcp: { callTool: unused("MCP server") },
    now: Date.now,
    ...given,
  };
}
