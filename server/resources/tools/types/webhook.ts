import type { Fault } from "../../../domain/errors.ts";
import { fault } from "../../../http/errors.ts";
import { parameterFaults, secretInAddress, timeoutFaults } from "./fields.ts";
import {
  callOfRequest,
  changeRequest,
  type RequestDefinition,
  type RequestInput,
  requestFields,
  requestResponseFields,
  sendsRequest,
  showRequest,
} from "./request.ts";
import type { ToolKind } from "./tool-kind.ts";

/** A call sent to the client's endpoint, which may return the result later. */
export const kind = {
  fields: requestFields,
  response: requestResponseFields,
  faults: (input, before) => [...urlFaults(input, before), ...timeoutFaults(input), ...parameterFaults(input)],
  change: changeRequest,
  show: showRequest,
  call: callOfRequest,
  sends: sendsRequest,
} satisfies ToolKind<RequestInput, RequestDefinition>;

function urlFaults({ url }: RequestInput, before: RequestDefinition | null): Fault[] {
  if (url === undefined) return before ? [] : [fault("url", "A webhook tool needs a URL.", "required")];
  if (url.includes("{{secret.")) return [secretInAddress("url")];
  return /[{}]/.test(url) ? [fault("url", "The URL of a webhook tool cannot contain arguments.")] : [];
}
