import { secretDetector } from "../detectors.ts";
import type { GuardrailKind } from "./guardrail-kind.ts";

/** Finds keys and passwords. */
export const kind: GuardrailKind = {
  about: "text",
  required: {},
  places: () => [{ detector: secretDetector(), mark: "[secret]" }],
  message: () => "It has a secret.",
};
