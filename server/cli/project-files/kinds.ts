import type { TSchema } from "@sinclair/typebox";
import type { Fault } from "../../domain/errors.ts";
import { defaultPolicy } from "../../resources/agents/memory-policy.ts";
import { SyncAgent } from "../../resources/agents/schema.ts";
import { CreateMemory } from "../../resources/memory/schema.ts";
import { CreateSchedule } from "../../resources/schedules/schema.ts";
import { CreateSnippet } from "../../resources/snippets/schema.ts";
import { textFaults } from "../../resources/snippets/text-faults.ts";
import { SyncTool } from "../../resources/tools/schema.ts";
import { definitionFaults } from "../../resources/triggers/definition-faults.ts";
import { type Definition, dedupeDefaults, defaultRateLimit } from "../../resources/triggers/row.ts";
import { CreateTrigger } from "../../resources/triggers/schema.ts";
import { CreateWebhook } from "../../resources/webhooks/schema.ts";

export const kinds = ["snippet", "skill", "memory", "tool", "agent", "schedule", "trigger", "webhook"] as const;
/** Kinds of things that files describe. */
export type Kind = (typeof kinds)[number];

/** A place in a thing that names another one: an id in the API, a name in a file. */
interface Reference {
  /** Fields that lead to it; `*` is each item of a list. */
  path: readonly string[];
  kind: Kind;
  /** Name of the field in files, where it differs. */
  inFile?: string;
  /** The API takes the name as it is, maybe with a version. */
  byName?: true;
}

type Fields = Record<string, unknown>;

interface KindRules {
  /** Path of the list and of its items. */
  list: string;
  folder: string;
  /** The field that tells one thing of the kind from another. */
  key: "name" | "url";
  fields: readonly string[];
  references: readonly Reference[];
  /** Values of fields that are left out; a file that is written leaves them out, too. */
  defaults: Fields | ((fields: Fields) => Fields);
  /** Fields that cannot change once the thing exists. */
  fixed: readonly string[];
  /** Where only the server compares things of the kind, this is absent. */
  schema?: TSchema;
  /** Faults of fields that fit the schema. */
  faults?: (fields: Fields) => Fault[];
  /** Fields of the API that no file has, with the reason. */
  notInFiles?: Record<string, string>;
}

const fieldsIn = (schema: { properties: object }): string[] => Object.keys(schema.properties);

export const rules: Record<Kind, KindRules> = {
  snippet: {
    list: "/snippets",
    folder: "snippets",
    key: "name",
    fields: fieldsIn(CreateSnippet),
    references: [],
    defaults: { description: null, metadata: {} },
    fixed: [],
    schema: CreateSnippet,
    faults: ({ text }) => textFaults(String(text)),
  },
  // A folder with the files of the skill, which are its only content.
  skill: { list: "/skills", folder: "skills", key: "name", fields: [], references: [], defaults: {}, fixed: [] },
  memory: {
    list: "/memory",
    folder: "memory",
    key: "name",
    schema: CreateMemory,
    fields: fieldsIn(CreateMemory),
    references: [],
    defaults: { scope: "project", ttl_seconds: null, metadata: {} },
    fixed: ["kind", "scope"],
  },
  tool: {
    list: "/tools",
    folder: "tools",
    key: "name",
    fields: fieldsIn(SyncTool),
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
    fields: fieldsIn(SyncAgent),
    references: [
      { path: ["tools", "*"], kind: "tool" },
      { path: ["memory", "stores", "*", "memory_id"], kind: "memory", inFile: "memory" },
      { path: ["handoffs", "*", "agent_id"], kind: "agent", inFile: "agent" },
      { path: ["skills", "*"], kind: "skill", byName: true },
      { path: ["skills", "*", "name"], kind: "skill", byName: true },
      { path: ["snippets", "*"], kind: "snippet", byName: true },
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
    schema: CreateSchedule,
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
  trigger: {
    list: "/triggers",
    folder: "triggers",
    key: "name",
    fields: fieldsIn(CreateTrigger).filter((field) => field !== "secret"),
    references: [{ path: ["agent_id"], kind: "agent", inFile: "agent" }],
    defaults: ({ verification }) => ({
      secret_header: null,
      enabled: true,
      input: null,
      variables: null,
      version: null,
      label: null,
      on_missing: "empty",
      filter: [],
      dedupe: dedupeDefaults[verification as keyof typeof dedupeDefaults] ?? null,
      thread: null,
      user: null,
      budget: null,
      rate_limit_per_minute: defaultRateLimit,
      metadata: {},
    }),
    fixed: ["verification"],
    schema: CreateTrigger,
    faults: (fields) => definitionFaults(fields as unknown as Definition),
    notInFiles: {
      secret: "--secrets writes the secret of a new trigger to a file, and rotate_secret of the API sets yours.",
    },
  },
  webhook: {
    list: "/webhooks",
    folder: "webhooks",
    key: "url",
    schema: CreateWebhook,
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

export function defaultsOf({ kind, fields }: Pick<Thing, "kind" | "fields">): Fields {
  const { defaults } = rules[kind];
  return typeof defaults === "function" ? defaults(fields) : defaults;
}

export const wordsOf = ({ kind, name }: Pick<Thing, "kind" | "name">): string => `${kind} ${name}`;
