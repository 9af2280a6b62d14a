import type { Fault } from "../../core/errors.ts";
import { fault } from "../../http/errors.ts";
import type { Definition } from "../definition.ts";
import type { UpdateTool } from "../schema.ts";
import { parameterFaults, secretInAddress, timeoutFaults } from "./fields.ts";
import { callOfRequest, changeRequest, requestFields, sendsRequest, showRequest } from "./request.ts";
import type { ToolKind } from "./tool-kind.ts";

export const webhookFields = requestFields;

/** A call handed to the client's own endpoint, which may return the result later. */
export const webhookKind: ToolKind = {
  fields: webhookFields,
  faults: (input, before) => [...urlFaults(input, before), ...timeoutFaults(input), ...parameterFaults(input)],
  change: changeRequest,
  show: showRequest,
  call: callOfRequest,
  sends: sendsRequest,
};

function urlFaults({ url }: UpdateTool, before: Definition | null): Fault[] {
  if (url === undefined) return before ? [] : [fault("url", "A webhook tool needs a URL.", "required")];
  if (url.includes("{{secret.")) return [secretInAddress("url")];
  return /[{}]/.test(url) ? [fault("url", "The URL of a webhook tool has no arguments in it.")] : [];
}
