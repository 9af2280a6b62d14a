import type { GuardrailType } from "../../core/agent-snapshot.ts";
import { blockedTerms } from "./blocked-terms.ts";
import type { GuardrailKind } from "./guardrail-kind.ts";
import { jsonSchema } from "./json-schema.ts";
import { llmJudge } from "./llm-judge.ts";
import { maxLength } from "./max-length.ts";
import { pii } from "./pii.ts";
import { regex } from "./regex.ts";
import { secrets } from "./secrets.ts";
import { toolAllowlist } from "./tool-allowlist.ts";
import { urlAllowlist } from "./url-allowlist.ts";

/** What each type of guardrail is. */
export const guardrailKinds: Record<GuardrailType, GuardrailKind> = {
  max_length: maxLength,
  regex,
  blocked_terms: blockedTerms,
  pii,
  secrets,
  json_schema: jsonSchema,
  url_allowlist: urlAllowlist,
  tool_allowlist: toolAllowlist,
  llm_judge: llmJudge,
};
