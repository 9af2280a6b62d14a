import type { Fault } from "../../../domain/errors.ts";
import { fault } from "../../../http/errors.ts";
import { authFaults, parameterFaults, secretInAddress, timeoutFaults } from "./fields.ts";
import {
  callOfRequest,
  changeRequest,
  requestFields,
  requestResponseFields,
  sendsRequest,
  showRequest,
} from "./request.ts";
import type { Definition, ToolInput, ToolKind } from "./tool-kind.ts";

/** A call sent to the client's endpoint, which may return the result later. */
export const kind: ToolKind = {
  fields: requestFields,
  response: requestResponseFields,
  faults: (input, before, known) => [
    ...urlFaults(input, before),
    ...authFaults(input, before?.http ?? null, known, false),
    ...timeoutFaults(input),
    ...parameterFaults(input),
  ],
  change: changeRequest,
  show: showRequest,
  snapshot: (base, definition, sealed) => ({ ...base, type: "webhook", ...callOfRequest(definition, sealed) }),
  sends: sendsRequest,
};

function urlFaults({ url }: ToolInput, before: Definition | null): Fault[] {
  if (url === undefined) return before ? [] : [fault("url", "A webhook tool needs a URL.", "required")];
  if (url.includes("{{secret.")) return [secretInAddress("url")];
  return /[{}]/.test(url) ? [fault("url", "The URL of a webhook tool cannot contain arguments.")] : [];
}
