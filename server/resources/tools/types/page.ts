import { Type } from "@sinclair/typebox";
import type { Fault } from "../../../domain/errors.ts";
import type { JsonSchema } from "../../../domain/model-call.ts";
import { fault } from "../../../http/errors.ts";
import { isHostRule } from "../../../lib/host-rules.ts";
import * as t from "../../../lib/schema.ts";
import { timeoutFaults, timeoutField, usualTimeout_ms } from "./fields.ts";
import { requireSettings, type ToolInput, type ToolKind } from "./tool-kind.ts";

export const fields = {
  allowed_hosts: t.about(
    "Hosts whose pages may be read, such as `docs.example.com` or `*.example.com`; null: every public host.",
    t.orNull(Type.Array(Type.String({ minLength: 1, maxLength: 253 }), { maxItems: 100, uniqueItems: true })),
  ),
  timeout_ms: timeoutField,
};
export const response = { allowed_hosts: t.orNull(t.list(t.text)), timeout_ms: t.integer };

/** Reads pages of the web that the model chooses, as Markdown. */
export const kind: ToolKind = {
  fields,
  response,
  faults: (input) => [...pageFaults(input), ...timeoutFaults(input)],
  change: ({ allowed_hosts, timeout_ms }, before) => ({
    page: {
      allowed_hosts: allowed_hosts === undefined ? (before?.page?.allowed_hosts ?? null) : allowed_hosts,
      timeout_ms: timeout_ms ?? before?.page?.timeout_ms ?? usualTimeout_ms,
    },
  }),
  show: ({ page }) => ({ ...page }),
  snapshot: (base, { page }) => ({
    ...base,
    type: "page",
    idempotent: true,
    http: null,
    page: requireSettings(page),
  }),
  fixedParameters: () => parameters,
};

const parameters: JsonSchema = {
  type: "object",
  properties: {
    url: { type: "string", description: "The address of the page: https://…" },
    offset: {
      type: "integer",
      minimum: 0,
      description: "How many characters to skip: `next_offset` of the call before. Default: 0.",
    },
  },
  required: ["url"],
  additionalProperties: false,
};

function pageFaults({ allowed_hosts, parameters }: ToolInput): Fault[] {
  const faults = (allowed_hosts ?? []).flatMap((host, i) =>
    isHostRule(host)
      ? []
      : [fault(`allowed_hosts[${i}]`, "Must be a host, such as docs.example.com or *.example.com.")],
  );
  if (parameters) faults.push(fault("parameters", "A page tool has only the parameters url and offset."));
  return faults;
}
