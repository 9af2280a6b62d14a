import type { Static } from "@sinclair/typebox";
import type { RunInput as PlainInput, InputMessage as PlainMessage } from "../domain/run-input.ts";
import type { InputMessage, InputPart, RunInput } from "./schemas.ts";

type Part = Static<typeof InputPart>;
type PlainPart = Exclude<PlainMessage["content"], string>[number];

/** Returns an input with its parts under runnel's names. */
export const plainInput = (given: Static<typeof RunInput>): PlainInput =>
  typeof given === "string" ? given : given.map(plainMessage);

export const plainMessage = ({ content, ...message }: Static<typeof InputMessage>): PlainMessage => ({
  ...message,
  content: plainContent(content),
});

export const plainContent = (content: Static<typeof InputMessage>["content"]): PlainMessage["content"] =>
  typeof content === "string" ? content : content.map(plainPart);

/** Returns a part under runnel's name. */
export function plainPart(part: Part): PlainPart {
  switch (part.type) {
    case "input_text":
      return { type: "text", text: part.text };
    case "input_image": {
      const { file_id, data, image_url } = part;
      if (image_url === undefined) return { type: "image", ...contents({ file_id, data }) };
      return { type: "image", ...contents({ file_id, data, ...addressed(image_url) }), field: "image_url" };
    }
    case "input_file": {
      const { file_id, file_data, file_url, filename } = part;
      const field = file_data === undefined ? "file_url" : "file_data";
      return {
        type: "file",
        ...contents({ file_id, data: file_data, url: file_url }),
        ...(filename !== undefined && { filename }),
        ...(file_id === undefined && { field }),
      };
    }
    case "input_audio":
      return { type: "audio", data: part.input_audio.data, field: "input_audio.data" };
    default:
      return part;
  }
}

const addressed = (address: string): { data: string } | { url: string } =>
  /^data:/i.test(address) ? { data: address } : { url: address };

/** Returns the contents that are given. */
const contents = (all: { file_id?: string | undefined; data?: string | undefined; url?: string | undefined }) =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Pick<
    Extract<PlainPart, { type: "image" }>,
    "file_id" | "data" | "url"
  >;
