import type { Recipe } from "./recipe.ts";

export const toolType: Recipe = {
  title: "Add a tool type",
  placeholders: {
    "server/resources/tools/types/echo.ts": "server/resources/tools/types/<name>.ts",
    "server/runtime/agent-loop/tools/echo.ts": "server/runtime/agent-loop/tools/<name>.ts",
    "dashboard/src/features/tools/types/echo.ts": "dashboard/src/features/tools/types/<name>.tsx",
  },
  changes: {
    "server/domain/agent-snapshot.ts": [
      ['  email: "E-mail",\n};', '  email: "E-mail",\n  echo: "Echo",\n};'],
      [
        "/** A tool as pinned by a run. */\nexport type ToolSnapshot =",
        `export interface EchoTool extends ToolBase {
  type: "echo";
  http: null;
}

/** A tool as pinned by a run. */
export type ToolSnapshot =
  | EchoTool`,
      ],
    ],
    "server/resources/tools/types/echo.ts": `import { parameterFaults } from "./fields.ts";
import type { ToolKind } from "./tool-kind.ts";

/** Returns its arguments. */
export const kind: ToolKind = {
  fields: {},
  response: {},
  faults: parameterFaults,
  change: () => ({}),
  show: () => ({}),
  snapshot: (base) => ({ ...base, type: "echo", idempotent: true, http: null }),
};
`,
    "server/runtime/agent-loop/tools/echo.ts": `import type { EchoTool } from "../../../domain/agent-snapshot.ts";
import type { ToolRunner } from "./context.ts";

export const run: ToolRunner<EchoTool> = async (call) => ({ output: call.arguments, error: null, attempts: 1 });
`,
    "dashboard/src/features/tools/types/echo.ts": `import type { ToolPart } from "./tool-part.ts";

export const part: ToolPart = {
  hint: "Returns its arguments.",
  target: () => "This server",
  draftOf: () => ({}),
  read: () => ({}),
  words: {},
};
`,
  },
};
