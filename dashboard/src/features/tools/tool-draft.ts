import { isJsonObject, jsonText, readJson } from "../../lib/json-text.ts";
import type { Tool } from "./tool.ts";
import type { ToolType } from "./tools-search.ts";

/** A tool while somebody writes it: all fields as they are typed, those of other types too. */
export interface ToolDraft {
  name: string;
  description: string;
  parameters: string;
  approval: "never" | "always" | "when";
  when: string;
  on_unknown: Tool["on_unknown"];
  max_output_bytes: string;
  enabled: boolean;
  url: string;
  method: string;
  headers: { name: string; value: string }[];
  timeout_ms: string;
  retries: string;
  idempotent: "" | "true" | "false";
  response: "json" | "text";
  language: "javascript" | "python";
  /** Whether the tool is a function of its own, or the model writes the code. */
  hasSource: boolean;
  source: string;
  memory_mb: string;
  files: string[];
  server_url: string;
  /** One name a line; empty for all. */
  allowed_tools: string;
  agent_id: string;
}

export type ToolFaults = Partial<Record<keyof ToolDraft, string>>;

const text = (value: number | undefined): string => (value === undefined ? "" : String(value));

export const exampleSource = {
  javascript: "(args) => {\n  return { sum: args.a + args.b };\n}\n",
  python: 'def main(args):\n    return {"sum": args["a"] + args["b"]}\n',
};

/** The draft of a tool as it is; without one, of a new one. */
export function toolDraftOf(tool?: Tool): ToolDraft {
  const isRule = typeof tool?.approval === "object";
  const parameters = tool?.parameters ?? { type: "object", properties: {} };
  return {
    name: tool?.name ?? "",
    description: tool?.description ?? "",
    parameters: jsonText(parameters),
    approval: typeof tool?.approval === "object" ? "when" : (tool?.approval ?? "never"),
    when: isRule ? jsonText((tool.approval as { when: object }).when) : "",
    on_unknown: tool?.on_unknown ?? "ask",
    max_output_bytes: text(tool?.max_output_bytes),
    enabled: tool?.enabled ?? true,
    url: tool?.url ?? "",
    method: tool?.method ?? "POST",
    headers: Object.entries(tool?.headers ?? {}).map(([name, value]) => ({ name, value })),
    timeout_ms: text(tool?.timeout_ms),
    retries: text(tool?.retries),
    idempotent: tool ? (String(tool.idempotent ?? "") as ToolDraft["idempotent"]) : "",
    response: tool?.response ?? "json",
    language: tool?.language ?? "javascript",
    hasSource: tool ? tool.source !== null : true,
    source: tool?.source ?? exampleSource[tool?.language ?? "javascript"],
    memory_mb: text(tool?.memory_mb),
    files: tool?.files ?? tool?.file_ids ?? [],
    server_url: tool?.server_url ?? "",
    allowed_tools: (tool?.allowed_tools ?? []).join("\n"),
    agent_id: tool?.agent_id ?? "",
  };
}

/** Whether tools of a type have parameters of their own to write. */
export const hasParameters = (type: ToolType, draft: Pick<ToolDraft, "hasSource">): boolean =>
  type !== "mcp" && type !== "agent" && (type !== "code" || draft.hasSource);

/** What a draft says to the API, and what of it cannot be read yet. */
export function readToolDraft(type: ToolType, draft: ToolDraft): { body: Record<string, unknown>; faults: ToolFaults } {
  const faults: ToolFaults = {};
  const required = (field: "name" | "url" | "server_url" | "agent_id") => {
    if (draft[field].trim() === "") faults[field] = missing[field];
    return draft[field].trim();
  };
  const number = (field: "timeout_ms" | "retries" | "memory_mb" | "max_output_bytes"): number | undefined => {
    const written = draft[field].trim();
    if (written === "") return undefined;
    if (!/^\d+$/.test(written)) faults[field] = `${written} is not a whole number.`;
    return Number(written);
  };
  const object = (field: "parameters" | "when") => {
    const { value, fault } = readJson(draft[field]);
    if (fault !== null) faults[field] = fault;
    else if (!isJsonObject(value)) faults[field] = "This is an object: { … }.";
    return value;
  };
  const name = () => {
    const written = required("name");
    if (written && !/^[\w-]+$/.test(written)) faults.name = "Letters, digits, _ and - only, such as get_weather.";
    return written;
  };
  const headers = () =>
    Object.fromEntries(draft.headers.filter(({ name }) => name.trim()).map((h) => [h.name.trim(), h.value]));
  const lines = draft.allowed_tools
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const own: Record<ToolType, () => Record<string, unknown>> = {
    client: () => ({}),
    http: () => ({
      url: required("url"),
      method: draft.method,
      headers: headers(),
      timeout_ms: number("timeout_ms"),
      retries: number("retries"),
      idempotent: draft.idempotent === "" ? undefined : draft.idempotent === "true",
      response: draft.response,
    }),
    webhook: () => ({
      url: required("url"),
      headers: headers(),
      timeout_ms: number("timeout_ms"),
      retries: number("retries"),
      idempotent: draft.idempotent === "" ? undefined : draft.idempotent === "true",
    }),
    code: () => ({
      language: draft.language,
      source: draft.hasSource ? draft.source : null,
      timeout_ms: number("timeout_ms"),
      memory_mb: number("memory_mb"),
      files: draft.files,
    }),
    mcp: () => ({
      server_url: required("server_url"),
      headers: headers(),
      timeout_ms: number("timeout_ms"),
      allowed_tools: lines.length === 0 ? null : lines,
    }),
    agent: () => ({ agent_id: required("agent_id") }),
  };
  const body = {
    name: name(),
    description: draft.description,
    parameters: hasParameters(type, draft) ? object("parameters") : undefined,
    approval: draft.approval === "when" ? { when: object("when") } : draft.approval,
    on_unknown: draft.on_unknown,
    max_output_bytes: number("max_output_bytes"),
    enabled: draft.enabled,
    ...own[type](),
  };
  return { body: Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)), faults };
}

const missing = {
  name: "Give the tool a name.",
  url: "Write where the calls go, such as https://api.example.com/orders.",
  server_url: "Write where the server is, such as https://mcp.example.com/mcp.",
  agent_id: "Choose the agent that is asked.",
};

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Of a draft, only what is different from what it began with. */
export function toolChanges(draft: ToolDraft, tool: Tool): Record<string, unknown> {
  const { body } = readToolDraft(tool.type, draft);
  const begun = readToolDraft(tool.type, toolDraftOf(tool)).body;
  return Object.fromEntries(Object.entries(body).filter(([field, value]) => !same(value, begun[field])));
}

/** A new tool's body: what has its default is left out. */
export function toolCreation(type: ToolType, draft: ToolDraft): Record<string, unknown> {
  const { body } = readToolDraft(type, draft);
  const plain = { ...toolDraftOf(), source: "" };
  const defaults = readToolDraft(type, plain).body;
  const kept = ["name", "url", "server_url", "agent_id", "source"];
  const said = Object.entries(body).filter(([field, value]) => kept.includes(field) || !same(value, defaults[field]));
  return { type, ...Object.fromEntries(said) };
}

/** The server's faults by the fields of the form; `rest` are those that no field shows. */
export function toolFaults(faults: readonly { param: string | null; message: string }[]): {
  faults: ToolFaults;
  rest: string[];
} {
  const byField: ToolFaults = {};
  const rest: string[] = [];
  const known = toolDraftOf();
  for (const { param, message } of faults) {
    const [head = "", next] = (param ?? "").split(/[.[]/);
    const field = head === "approval" && next ? "when" : head;
    if (!(field in known)) rest.push(message);
    else byField[field as keyof ToolDraft] = [byField[field as keyof ToolDraft], message].filter(Boolean).join(" ");
  }
  return { faults: byField, rest };
}
