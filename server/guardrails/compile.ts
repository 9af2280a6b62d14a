import type { Guardrail, GuardrailPoint } from "../core/agent-snapshot.ts";
import type { JsonSchema } from "../core/model-call.ts";
import { type Detector, piiDetector, piiKinds, secretDetector } from "./detectors.ts";
import { createLengthDetector } from "./max-length.ts";
import { compile } from "./pattern/pattern.ts";
import { createTermSearch } from "./terms.ts";
import { createUrlDetector } from "./urls.ts";

/** Those that say something of any text, and not which shape a whole input or output has. */
export const withoutShape = (list: CompiledGuardrails): CompiledGuardrails =>
  list.filter(({ guardrail: { type } }) => type !== "json_schema");

/** A guardrail that is ready for texts. */
export interface CompiledGuardrail {
  /** Its place in the agent's list. */
  index: number;
  guardrail: Guardrail;
  /** What it looks for in texts, and what is left in the place of a finding. Empty: it looks at the whole. */
  places: { detector: Detector; mark: string }[];
}

export type CompiledGuardrails = readonly CompiledGuardrail[];

const compiled = new WeakMap<readonly Guardrail[], CompiledGuardrails>();

/** Compiles an agent's list, which {@link checkGuardrails} passed; the same list only once. */
export function compileGuardrails(list: readonly Guardrail[]): CompiledGuardrails {
  let known = compiled.get(list);
  if (!known) {
    known = list.map((guardrail, index) => ({ index, guardrail, places: placesOf(guardrail) }));
    compiled.set(list, known);
  }
  return known;
}

/** Those that look at this point, in the order of the list. */
export const guardrailsOn = (list: CompiledGuardrails, point: GuardrailPoint): CompiledGuardrail[] =>
  list.filter(({ guardrail }) => guardrail.on.includes(point));

function placesOf({ type, config }: Guardrail): CompiledGuardrail["places"] {
  switch (type) {
    case "max_length":
      return [{ detector: createLengthDetector(config.max_length as number), mark: "" }];
    case "regex":
      return [{ detector: compile(config.pattern as string), mark: "[removed]" }];
    case "blocked_terms":
      return [{ detector: termDetector(config.terms as string[]), mark: "[removed]" }];
    case "pii":
      return ((config.kinds as string[] | undefined) ?? piiKinds).map((kind) => ({
        detector: piiDetector(kind),
        mark: `[${kind}]`,
      }));
    case "secrets":
      return [{ detector: secretDetector(), mark: "[secret]" }];
    case "url_allowlist":
      return [{ detector: createUrlDetector(config.hosts as string[]), mark: "[url]" }];
    default:
      return [];
  }
}

function termDetector(terms: readonly string[]): Detector {
  const scan = createTermSearch(terms);
  return {
    scan,
    search(text) {
      const scanner = scan();
      scanner.push(text);
      return [...scanner.spans];
    },
  };
}

export const schemaOf = ({ guardrail }: CompiledGuardrail): JsonSchema => guardrail.config.schema as JsonSchema;
