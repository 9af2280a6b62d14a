import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { httpMethods } from "../../domain/http-request.ts";
import {
  type ImportChoices,
  importLimits,
  type PlannedDocument,
  type PlannedOperation,
  refusalCodes,
  schemeTypes,
} from "../../domain/openapi-import.ts";
import { findDangerousKey } from "../../lib/json-limits.ts";
import * as t from "../../lib/schema.ts";
import { encodeFrameHeader } from "./frame-header.ts";
import type { Packet } from "./packet.ts";
import type { OpenApiHead } from "./serve-openapi.ts";
import type { Task } from "./task.ts";

/** `unavailable`: the document was not judged, because the reader is off or was stopped. */
export type OpenApiOutcome =
  | { document: PlannedDocument; operations: PlannedOperation[] }
  | { error: string; unavailable?: "off" | "stopped" };

const memory_mb = 1500;
const timeout_ms = 60_000;
const outputMost = 96 * 1024 * 1024;

/** Returns the task of reading an OpenAPI document. */
export function openApiTask(bytes: Uint8Array, choices: ImportChoices): Task<OpenApiOutcome> {
  const answer = openAnswer();
  const head: OpenApiHead = { bytes: bytes.length, choices };
  return {
    timeout_ms,
    timed_by: "processor",
    memory_mb,
    late_message: `The document could not be read within ${timeout_ms / 1000} seconds. As JSON it is read faster than as YAML.`,
    memory_message: `The document needs more than ${memory_mb} MB of memory to be read.`,
    output_max_bytes: outputMost,
    order: [encodeFrameHeader(head)],
    content: [bytes],
    content_bytes: bytes.length,
    onPacket: answer.hear,
    isComplete: answer.isWhole,
    outcome: (why) => (why === null && answer.said()) || { error: why?.message ?? "The document could not be read." },
  };
}

const short = (maxLength: number) => Type.String({ maxLength });
const words = (maxLength: number, maxItems: number) => Type.Array(short(maxLength), { maxItems });

const Operation = t.closedObject({
  operation: short(1100),
  operation_id: t.orNull(short(256)),
  tags: words(128, 20),
  deprecated: Type.Boolean(),
  tool: t.orNull(
    t.closedObject({
      name: short(64),
      description: short(4096),
      method: t.oneOf(httpMethods),
      url: short(4096),
      parameters: Type.Object({}, { additionalProperties: true }),
      request: Type.Object({}, { additionalProperties: true }),
      response: t.oneOf(["json", "text"]),
    }),
  ),
  refusal: t.orNull(t.closedObject({ code: t.oneOf(refusalCodes), message: short(1000) })),
  notes: words(300, 20),
  security: Type.Array(words(128, 50), { maxItems: 20 }),
});

const Document = t.closedObject({
  title: short(200),
  version: short(64),
  openapi: short(16),
  servers: Type.Array(
    t.closedObject({
      url: short(1024),
      description: short(200),
      variables: Type.Array(
        t.closedObject({ name: short(128), default: short(256), enum: words(256, 50), description: short(200) }),
        { maxItems: 20 },
      ),
    }),
    { maxItems: 50 },
  ),
  server: t.orNull(short(4096)),
  security_schemes: Type.Array(
    t.closedObject({
      name: short(128),
      type: t.oneOf(schemeTypes),
      in: t.orNull(t.oneOf(["header", "query", "cookie"])),
      parameter: t.orNull(short(128)),
      description: short(300),
    }),
    { maxItems: 50 },
  ),
});

/** Collects the answer of a child. It is untrusted: a hostile document may have taken over the child. */
function openAnswer() {
  const operations: PlannedOperation[] = [];
  let end: OpenApiOutcome | null = null;

  function take(batch: unknown): void {
    if (!Array.isArray(batch)) throw new Error("The child's rows are no list.");
    for (const each of batch) {
      if (operations.length === importLimits.operations) throw new Error("The operations are too many.");
      if (!Value.Check(Operation, each) || findDangerousKey(each) !== null)
        throw new Error("An operation is none of a document's.");
      operations.push(each as PlannedOperation);
    }
  }

  function read({ error, document }: { error?: unknown; document?: unknown }): OpenApiOutcome {
    if (typeof error === "string") return { error: error.slice(0, 1000) };
    if (!Value.Check(Document, document)) throw new Error("The facts are none of a document's.");
    return { document: document as PlannedDocument, operations };
  }

  return {
    /** Throws if the packet is not valid at this point. */
    hear({ kind, payload }: Packet): void {
      if (end !== null) throw new Error(`${kind} is out of turn.`);
      const value: unknown = JSON.parse(new TextDecoder().decode(payload));
      if (kind === "rows") take(value);
      else if (kind === "ended") end = read(Object(value));
      else throw new Error(`${kind} is none of a document's.`);
    },
    isWhole: (): boolean => end !== null,
    said: (): OpenApiOutcome | null => end,
  };
}
