import { type Static, Type } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import {
  contextStrategies,
  guardrailActions,
  guardrailPoints,
  guardrailTypes,
  handoffFilters,
  historyModes,
  memoryAccesses,
  rerankTypes,
} from "../agent-snapshot.ts";
import { providerToolTypes } from "../provider-tools.ts";
import { variableTypes } from "../variable.ts";
import { MemoryId, ModelName, ownId, ToolName, ToolTypeName } from "./fields.ts";

export const ToolReference = t.named(
  "ToolReference",
  t.object({ id: ownId("tool"), name: ToolName, type: ToolTypeName }),
);
export type ToolReference = Static<typeof ToolReference>;

export const Guardrail = t.named(
  "Guardrail",
  t.object({
    type: t.about("What the rule looks for.", t.oneOf(guardrailTypes)),
    on: t.about("Where the rule is applied.", t.list(t.oneOf(guardrailPoints))),
    action: t.about("What happens when the rule finds something.", t.oneOf(guardrailActions)),
    config: t.about("The rule's settings, by its type.", t.anyObject),
  }),
);

export const ProviderTool = t.named(
  "ProviderTool",
  t.object({
    type: t.about("What the provider does: it searches the web, or runs code.", t.oneOf(providerToolTypes)),
    max_uses: t.about("How often one model call may use it.", t.integer),
    allowed_domains: t.about("The only domains that a search shows.", t.optional(t.list(t.text))),
    blocked_domains: t.about("Domains that a search does not show.", t.optional(t.list(t.text))),
  }),
);

export const Handoff = t.named(
  "Handoff",
  t.object({
    agent_id: t.about("The agent that goes on with the conversation.", t.text),
    version: t.about(
      "The version that goes on; absent: the newest when the run begins, or that of the label.",
      t.optional(t.integer),
    ),
    label: t.about("The label that chooses the version when a run begins; absent: none.", t.optional(t.text)),
    description: t.about(
      "Tells the model when to hand over; absent: the other agent's description.",
      t.optional(t.text),
    ),
    filter: t.about(
      "What goes along: `all` of the conversation, only what the user said last (`last_message`), everything without tool calls and their results (`no_tool_calls`), or the newest messages (`{messages: 20}`).",
      Type.Union([
        t.oneOf(handoffFilters),
        t.object({ messages: t.about("How many of the newest messages go along.", t.integer) }),
      ]),
    ),
  }),
);

export const Budget = t.named(
  "Budget",
  t.object({
    max_cost_usd: t.about("What it may cost at most, in US dollars.", t.optional(t.number)),
    max_total_tokens: t.about("How many tokens may be used, of prompts and answers together.", t.optional(t.integer)),
    max_tool_calls: t.about("How many tool calls the run may make, refused ones not counted.", t.optional(t.integer)),
    max_wall_ms: t.about(
      "How long it may take since it began, in milliseconds, waiting included.",
      t.optional(t.integer),
    ),
  }),
);

export const MemoryPolicy = t.named(
  "MemoryPolicy",
  t.object({
    stores: t.about(
      "The memory stores that its runs use.",
      t.list(
        t.object({
          memory_id: MemoryId,
          access: t.about("Whether runs may only read the store, or write to it too.", t.oneOf(memoryAccesses)),
          auto_retrieve: t.about(
            "Whether the store is searched with the input before the first model call.",
            t.boolean,
          ),
          top_k: t.about("How many passages are found at most.", t.integer),
          score_threshold: t.about("Results with a lower score are left out.", t.number),
          rerank: t.about(
            "A model that reranks the results; absent or null: none.",
            t.optional(
              t.named(
                "Rerank",
                t.object({
                  model: ModelName,
                  type: t.about(
                    "`cross_encoder`: a model for reranking scores each passage. `chat`: a chat model is asked for the order.",
                    t.optional(t.oneOf(rerankTypes)),
                  ),
                  candidates: t.about(
                    "How many of the passages found are given to the reranking model, never fewer than `top_k`.",
                    t.integer,
                  ),
                }),
              ),
            ),
          ),
          diversity: t.about(
            "How much a passage is penalized for similarity to a better one, from 0 (not at all) to 1. Results are in the order in which they were chosen.",
            t.optional(t.number),
          ),
          neighbors: t.about(
            "How many passages of the same document are shown before and after each one.",
            t.optional(t.integer),
          ),
          learn: t.about(
            "Whether facts of the user are learned from each run and kept in this store; absent: they are not.",
            t.optional(t.boolean),
          ),
        }),
      ),
    ),
    history: t.about(
      "How much of a thread its runs read.",
      t.named(
        "HistoryPolicy",
        t.object({
          mode: t.about(
            "Whether its runs read their thread. It matters only where a run has one.",
            t.oneOf(historyModes),
          ),
          max_messages: t.about(
            "How many of the thread's newest messages are read at most. Of a longer thread, runs read between four fifths of them and all, so that a provider can cache the conversation.",
            t.integer,
          ),
        }),
      ),
    ),
    context: t.about(
      "What happens when a conversation becomes too long.",
      t.named(
        "ContextPolicy",
        t.object({
          strategy: t.about("What happens when the next prompt is too long.", t.oneOf(contextStrategies)),
          reserve_output_tokens: t.about("How many tokens are kept free for the answer.", t.integer),
          tool_output_max_bytes: t.about(
            "How many bytes of each tool output the model reads; the run keeps all of it.",
            t.integer,
          ),
        }),
      ),
    ),
  }),
);

export const Doors = t.named(
  "Doors",
  t.object({
    mcp: t.about("Whether it is a tool for MCP clients.", t.boolean),
    a2a: t.about("Whether it is an agent for A2A clients.", t.boolean),
  }),
);

/** Value of a variable. */
export const VariableValue = t.named("VariableValue", Type.Union([t.text, t.number, t.boolean]));

export const Variable = t.named(
  "Variable",
  t.object({
    name: t.about("The name that stands in the text as `{{name}}`, and by which a run gives the value.", t.text),
    type: t.about("The type of its values.", t.oneOf(variableTypes)),
    description: t.about(
      "What the value stands for, for people who start a run; absent: no description.",
      t.optional(t.text),
    ),
    default: t.about("The value of a run that gives none; absent: an empty text.", t.optional(VariableValue)),
    required: t.about("Whether a run without a value is refused; absent: it is not.", t.optional(t.boolean)),
    enum: t.about("The only values of a `string`; absent: any.", t.optional(t.list(t.text))),
  }),
);
