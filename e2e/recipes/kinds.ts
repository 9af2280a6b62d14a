import type { Recipe } from "./recipe.ts";

export const webhookEvent: Recipe = {
  title: "Add a webhook event",
  changes: {
    "server/domain/api-types/enums.ts": [
      [
        '  "tool.requested": "A model asked for a tool.",\n',
        '  "tool.requested": "A model asked for a tool.",\n  "context.compacted": "A conversation was summarized.",\n',
      ],
      [
        '  "tool.requested": "tool.requested",\n',
        '  "tool.requested": "tool.requested",\n  "context.compacted": "context.compacted",\n',
      ],
    ],
    "server/domain/api-types/webhook.ts": [
      ['  "file.ready": ofFile,\n', '  "context.compacted": ofRunOnly,\n  "file.ready": ofFile,\n'],
    ],
    "server/docs/guides/webhooks.md": [
      ["`handoff.completed`, `file.ready`", "`handoff.completed`, `context.compacted`, `file.ready`"],
    ],
  },
};

export const documentFormat: Recipe = {
  title: "Add a document format",
  placeholders: { "server/runtime/documents/parse-ini.ts": "server/runtime/documents/parse-<name>.ts" },
  changes: {
    "server/runtime/documents/formats.ts": [
      ['  "text/rtf": "rtf",\n', '  "text/rtf": "rtf",\n  "text/x-ini": "ini",\n'],
    ],
    "server/runtime/documents/parse-ini.ts": `import { decodeText } from "./decode.ts";
import type { Outline } from "./outline.ts";

/** Parses a settings file. Each section begins with its name in brackets. */
export function parseIni(bytes: Uint8Array, outline: Outline): void {
  for (const section of decodeText(bytes).split(/^(?=\\[)/m)) {
    const [first = "", ...lines] = section.split("\\n");
    const name = /^\\[(.+)\\]\\s*$/.exec(first)?.[1];
    if (name) outline.heading(1, name);
    outline.block((name ? lines : [first, ...lines]).join("\\n"));
  }
}
`,
    "server/runtime/documents/parse.ts": [
      [
        "import { parseJson, parseJsonLines }",
        'import { parseIni } from "./parse-ini.ts";\nimport { parseJson, parseJsonLines }',
      ],
      ["  rtf: parseRtf,\n", "  rtf: parseRtf,\n  ini: parseIni,\n"],
    ],
  },
};

export const guardrailType: Recipe = {
  title: "Add a guardrail type",
  placeholders: { "server/runtime/guardrails/types/max-lines.ts": "server/runtime/guardrails/types/<name>.ts" },
  changes: {
    "server/domain/agent-snapshot.ts": [['  "max_length",\n', '  "max_length",\n  "max_lines",\n']],
    "server/runtime/guardrails/types/max-lines.ts": `import type { Complain, GuardrailKind } from "./guardrail-kind.ts";

/** Limits the number of lines. */
export const kind: GuardrailKind = {
  about: "shape",
  required: { max_lines: checkLines },
  fits: ({ max_lines }, value) => typeof value !== "string" || value.split("\\n").length <= Number(max_lines),
  message: ({ max_lines }) => \`It has more than \${max_lines} lines.\`,
};

function checkLines(value: unknown, path: string, complain: Complain): void {
  if (!Number.isInteger(value) || Number(value) < 1) complain(path, "Must be a whole number from 1 on.");
}
`,
    "dashboard/src/features/agents/guardrail-fields.ts": [
      [
        "  json_schema: {\n",
        `  max_lines: {
    label: "Lines",
    settings: [{ name: "max_lines", label: "Max lines", kind: "number" }],
    example: { on: ["output"], action: "block", config: { max_lines: 100 } },
  },
  json_schema: {
`,
      ],
    ],
    "server/runtime/guardrails/check.test.ts": [
      [
        "  max_length: { max_length: 100 },\n",
        "  max_length: { max_length: 100 },\n  max_lines: { max_lines: 100 },\n",
      ],
    ],
  },
};

export const memoryKind: Recipe = {
  title: "Add a memory kind",
  placeholders: { "server/domain/memory-kinds/list.ts": "server/domain/memory-kinds/<name>.ts" },
  changes: {
    "server/domain/agent-snapshot.ts": [
      [
        'export const memoryKindNames = ["vector", "kv"] as const;',
        'export const memoryKindNames = ["vector", "kv", "list"] as const;',
      ],
    ],
    "server/domain/memory-kinds/list.ts": `import type { MemoryKind } from "./memory-kind.ts";

/** Lists of texts, without a tool of their own yet. */
export const list: MemoryKind = {
  isSearched: false,
  refusal: 'This store holds a list (kind "list"). It has no entries, no keys and no search.',
  tools: [],
};
`,
    "server/domain/memory-kinds/memory-kinds.ts": [
      ['import { kv } from "./kv.ts";\n', 'import { kv } from "./kv.ts";\nimport { list } from "./list.ts";\n'],
      ["= { vector, kv }", "= { vector, kv, list }"],
    ],
    "dashboard/src/entities/memory/store-words.ts": [['kv: "Keys" }', 'kv: "Keys", list: "Lists" }']],
    "dashboard/src/features/memory/store-page.tsx": [
      ["  kv: [\n", '  list: [{ value: "settings", label: "Settings" }],\n  kv: [\n'],
    ],
  },
};

export const modelProvider: Recipe = {
  title: "Add a model provider",
  placeholders: { "server/runtime/models/providers/cerebras.ts": "server/runtime/models/providers/<name>.ts" },
  changes: {
    "server/domain/providers.ts": [
      ['  google: "Google",\n', '  google: "Google",\n  cerebras: "Cerebras",\n'],
      ['  ["openai", "OPENAI_API_KEY"],\n', '  ["openai", "OPENAI_API_KEY"],\n  ["cerebras", "CEREBRAS_API_KEY"],\n'],
    ],
    "server/testing/provider-wire.ts": [["  ollama: chat,", "  cerebras: chat,\n  ollama: chat,"]],
    "server/runtime/models/providers/cerebras.ts": `import { type ChatDialect, plainDialect } from "../chat-dialect.ts";

/** Cerebras. */
export const dialect: ChatDialect = { ...plainDialect, base_url: "https://api.cerebras.ai/v1" };
`,
    "server/runtime/models/providers/dialects.ts": [
      [
        'import { dialect as deepseek } from "./deepseek.ts";\n',
        'import { dialect as cerebras } from "./cerebras.ts";\nimport { dialect as deepseek } from "./deepseek.ts";\n',
      ],
      ["const chatDialects = {", "const chatDialects = { cerebras,"],
    ],
    "server/runtime/models/embedding.ts": [
      ["  anthropic: 1,\n", "  anthropic: 1,\n  cerebras: 1,\n"],
      ['    case "anthropic":\n', '    case "anthropic":\n    case "cerebras":\n'],
    ],
  },
};
