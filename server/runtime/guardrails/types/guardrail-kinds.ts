import type { GuardrailType } from "../../../domain/agent-snapshot.ts";
import * as all from "./all.ts";
import type { GuardrailKind } from "./guardrail-kind.ts";

/** Definition of each type of guardrail. */
export const guardrailKinds: Record<GuardrailType, GuardrailKind> = all;
