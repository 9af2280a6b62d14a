import { noSuch } from "../../domain/error-messages.ts";
import type { Fault } from "../../domain/errors.ts";
import { idPattern } from "../../domain/ids.ts";
import { type reasoningEfforts, toolChoices } from "../../domain/providers.ts";
import { fault } from "../../http/errors.ts";
import type { AgentOverrides } from "../../http/schemas.ts";
import { ownValue } from "../../lib/collections.ts";
import type { CreateRun, SubmitToolOutputs } from "../../runs/schema.ts";
import { toInput } from "../../runtime/models/call-options.ts";

// Fields that chat completions and responses share. Unreadable values are added to the faults.

export type Settings = NonNullable<AgentOverrides["model_settings"]>;
type Input = Exclude<CreateRun["input"], string>;
export type InputMessage = Input[number];
export type InputPart = Exclude<InputMessage["content"], string>[number];
export type InputCall = NonNullable<InputMessage["tool_calls"]>[number];
type OutputPart = NonNullable<SubmitToolOutputs["tool_outputs"][number]["content"]>[number];
type RequestTool = NonNullable<CreateRun["tools"]>[number];

/** Returns the settings without null and undefined ones. */
export const withoutNullSettings = (all: { [Name in keyof Settings]: Settings[Name] | null }): Settings =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null && value !== undefined));

/** Parses arguments that a model wrote. If they are no object, they are kept as `unreadable_arguments`. */
export const objectOf = (text: string): Record<string, unknown> => (text.trim() === "" ? {} : toInput(text));

type Effort = (typeof reasoningEfforts)[number];
const efforts: Record<string, Effort> = {
  none: "none",
  minimal: "minimal",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "max",
};

export function effortOf(text: string | null | undefined, param: string, faults: Fault[]): Effort | null {
  if (text === null || text === undefined) return null;
  const effort = ownValue(efforts, text) ?? null;
  if (!effort) faults.push(fault(param, `Must be one of ${Object.keys(efforts).join(", ")}.`));
  return effort;
}

/** `name`: the chosen function, if one is chosen. */
export function choiceOf(
  choice: unknown,
  name: string | null | undefined,
  faults: Fault[],
): Settings["tool_choice"] | null {
  if (choice === null || choice === undefined) return null;
  if (name) return { name };
  const known = toolChoices.find((one) => one === choice);
  if (!known) faults.push(fault("tool_choice", "Must be auto, none, required, or a function."));
  return known ?? null;
}

interface FunctionTool {
  name?: string | null;
  description?: string | null;
  parameters?: Record<string, unknown> | null;
}

/** Parses a client tool; returns null if it is none. */
export function toolOf(
  type: string,
  functionTool: FunctionTool | null,
  path: string,
  faults: Fault[],
): RequestTool | null {
  if (type !== "function" || !functionTool?.name) {
    faults.push(fault(`${path}.type`, "Must be function. What an agent does by itself are tools of its own."));
    return null;
  }
  const { name, description, parameters } = functionTool;
  return { type: "client", name, ...(description && { description }), ...(parameters && { parameters }) };
}

interface Format {
  type: string;
  schema?: Record<string, unknown> | null | undefined;
}

/** Returns the schema of a structured answer, or null for text. */
export function schemaOf(format: Format | null | undefined, param: string, faults: Fault[]) {
  if (!format || format.type === "text") return null;
  if (format.type === "json_object") return { type: "object" };
  if (format.type !== "json_schema") faults.push(fault(`${param}.type`, "Must be text, json_object or json_schema."));
  return format.schema ?? { type: "object" };
}

/** Parses an image: an address or a `data:` URL. */
export function imageOf(url: string | null | undefined, param: string, faults: Fault[]): InputPart {
  if (!/^(data|https?):/i.test(url ?? ""))
    faults.push(fault(param, "Must be https://… or data:<type>;base64,<content>."));
  return { type: "input_image", image_url: url || "data:" };
}

/** Parses an image that is a stored file. */
export function storedImageOf(file_id: string, param: string, faults: Fault[]): InputPart {
  requireFileId(file_id, param, faults);
  return { type: "input_image", file_id };
}

const fileId = new RegExp(idPattern("file"));

function requireFileId(id: string, param: string, faults: Fault[]): void {
  if (!fileId.test(id)) faults.push(fault(`${param}.file_id`, noSuch("file")));
}

interface FileFields {
  file_id?: string | null;
  file_data?: string | null;
  file_url?: string | null;
  filename?: string | null;
}

/** Parses a document: a stored file, a `data:` URL or an address. */
export function fileOf(file: FileFields | null | undefined, param: string, faults: Fault[]): InputPart {
  const { file_id, file_data, file_url, filename } = file ?? {};
  if (file_id) requireFileId(file_id, param, faults);
  if (!file_id && !file_data && !file_url) faults.push(fault(param, "Must have file_id or file_data."));
  return {
    type: "input_file",
    ...(file_id && { file_id }),
    ...(file_data && { file_data }),
    ...(file_url && { file_url }),
    ...(filename && { filename }),
  };
}

/** Parses a recording. */
export function audioOf(
  audio: { data: string; format?: string | null } | null | undefined,
  param: string,
  faults: Fault[],
): InputPart {
  if (!audio) faults.push(fault(param, "Must have data and format."));
  const { data = "", format } = audio ?? {};
  return { type: "input_audio", input_audio: { data, ...(format && { format }) } };
}

/** Returns the result of a call as the API takes it. */
export const resultOf = (content: InputMessage["content"]): { output: string } | { content: OutputPart[] } =>
  typeof content === "string" ? { output: content } : { content: content as OutputPart[] };
