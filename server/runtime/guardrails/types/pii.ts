import { piiDetector, piiKinds } from "../detectors.ts";
import { type Complain, checkList, type GuardrailKind } from "./guardrail-kind.ts";

/** Finds personal data of some or all kinds. */
export const kind: GuardrailKind = {
  about: "text",
  required: {},
  optional: { kinds: checkKinds },
  places: ({ kinds }) =>
    ((kinds as string[] | undefined) ?? piiKinds).map((kind) => ({ detector: piiDetector(kind), mark: `[${kind}]` })),
  message: () => "It has personal data.",
};

function checkKinds(value: unknown, path: string, complain: Complain): void {
  checkList(value, path, complain, piiKinds.length, (kind, at) => {
    if (!piiKinds.includes(kind)) complain(at, `Must be one of ${piiKinds.join(", ")}.`);
  });
}
