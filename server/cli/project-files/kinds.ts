import { defaultPolicy } from "../../resources/agents/memory-policy.ts";
import { SetAgent } from "../../resources/agents/schema.ts";
import { CreateMemory } from "../../resources/memory/schema.ts";
import { CreateSchedule } from "../../resources/schedules/schema.ts";
import { SetTool } from "../../resources/tools/schema.ts";
import { CreateWebhook } from "../../resources/webhooks/schema.ts";

export const kinds = ["memory", "tool", "agent", "schedule", "webhook"] as const;
/** Kinds of things that files describe. */
export type Kind = (typeof kinds)[number];

/** A place in a thing that names another one: an id in the API, a name in a file. */
interface Reference {
  /** Fields that lead to it; `*` is each item of a list. */
  path: readonly string[];
  kind: Kind;
  /** Name of the field in files, where it differs. */
  inFile?: string;
}

interface KindRules {
  /** Path of the list and of its items. */
  list: string;
  folder: string;
  /** The field that tells one thing of the kind from another. */
  key: "name" | "url";
  fields: readonly string[];
  references: readonly Reference[];
  /** Values of fields that are left out; a file that is written leaves them out, too. */
  defaults: Record<string, unknown>;
  /** Fields that cannot change once the thing exists. */
  fixed: readonly string[];
}

const fieldsIn = (schema: { properties: object }): string[] => Object.keys(schema.properties);

export const rules: Record<Kind, KindRules> = {
  memory: {
    list: "/memory",
    folder: "memory",
    key: "name",
    fields: fieldsIn(CreateMemory),
    references: [],
    defaults: { scope: "project", ttl_seconds: null, metadata: {} },
    fixed: ["kind", "scope"],
  },
  tool: {
    list: "/tools",
    folder: "tools",
    key: "name",
    fields: fieldsIn(SetTool),
    references: [{ path: ["agent_id"], kind: "agent", inFile: "agent" }],
    defaults: {
      description: "",
      parameters: { type: "object", properties: {} },
      approval: "never",
      on_unknown: "ask",
      max_output_bytes: 262_144,
      enabled: true,
      headers: {},
      retries: 0,
      allowed_tools: null,
      files: [],
      version: null,
      label: null,
      metadata: {},
    },
    fixed: ["type"],
  },
  agent: {
    list: "/agents",
    folder: "agents",
    key: "name",
    fields: fieldsIn(SetAgent),
    references: [
      { path: ["tools", "*"], kind: "tool" },
      { path: ["memory", "stores", "*", "memory_id"], kind: "memory", inFile: "memory" },
      { path: ["handoffs", "*", "agent_id"], kind: "agent", inFile: "agent" },
    ],
    defaults: {
      description: null,
      model_settings: {},
      tools: [],
      max_turns: 25,
      output_schema: null,
      input_schema: null,
      guardrails: [],
      budget: null,
      provider_tools: [],
      memory: defaultPolicy,
      prompt_caching: "auto",
      doors: { mcp: false, a2a: false },
      handoffs: [],
      skills: [],
      variables: [],
      snippets: [],
      tool_loading: "auto",
      metadata: {},
    },
    fixed: [],
  },
  schedule: {
    list: "/schedules",
    folder: "schedules",
    key: "name",
    fields: fieldsIn(CreateSchedule),
    references: [{ path: ["agent_id"], kind: "agent", inFile: "agent" }],
    defaults: {
      enabled: true,
      catch_up: "skip",
      if_busy: "start",
      overrides: null,
      budget: null,
      variables: null,
      version: null,
      label: null,
      user_id: null,
      session_id: null,
      metadata: {},
    },
    fixed: [],
  },
  webhook: {
    list: "/webhooks",
    folder: "webhooks",
    key: "url",
    fields: fieldsIn(CreateWebhook),
    references: [],
    defaults: { description: null, enabled: true, metadata: {} },
    fixed: [],
  },
};

/** A thing as a file describes it, with names in place of ids. */
export interface Thing {
  kind: Kind;
  /** Its name, or its address. */
  name: string;
  fields: Record<string, unknown>;
}

export const wordsOf = ({ kind, name }: Pick<Thing, "kind" | "name">): string => `${kind} ${name}`;
