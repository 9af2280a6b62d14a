import type { GuardrailType } from "../../core/agent-snapshot.ts";
import * as all from "./all.ts";
import type { GuardrailKind } from "./guardrail-kind.ts";

/** What each type of guardrail is. */
export const guardrailKinds: Record<GuardrailType, GuardrailKind> = all;
