import type { ModelRequest, PromptImage, PromptMessage } from "../../domain/model-call.ts";
import { readFile } from "./adapters.ts";
import type { Ask } from "./messages.ts";

/** Maximum size of an image in a prompt. */
const imageBytesMax = 5 * 1024 * 1024;

/** Adds the images' bytes, which are neither hashed nor journaled. A deleted image is replaced by a note. */
export async function fetchImages(request: ModelRequest, ask: Ask): Promise<ModelRequest> {
  if (!request.messages.some((message) => "images" in message)) return request;
  return { ...request, messages: await Promise.all(request.messages.map((message) => withImages(message, ask))) };
}

async function withImages(message: PromptMessage, ask: Ask): Promise<PromptMessage> {
  if (message.role !== "user" || !message.images) return message;
  const read = await Promise.all(message.images.map((image) => fetchImage(image, ask)));
  const images = read.filter((image) => typeof image !== "string");
  const deletedNotes = read
    .filter((image) => typeof image === "string")
    .map((id) => `[The image ${id} was deleted meanwhile]`);
  return { ...message, content: [message.content, ...deletedNotes].join("\n\n"), images };
}

async function fetchImage(image: PromptImage, ask: Ask): Promise<PromptImage | string> {
  const file = await readFile(image.file_id, imageBytesMax, ask);
  return typeof file === "string" ? image.file_id : { ...image, data: file.bytes.toBase64() };
}
