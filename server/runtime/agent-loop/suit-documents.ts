import type { PromptDocument, PromptMessage } from "../../domain/model-call.ts";
import { pageImageBounds } from "../documents/bounds.ts";
import { type InputKinds, nativePagesMost } from "../models/input-kinds.ts";

type Takes = Pick<InputKinds, "pdf" | "page_images">;

/** True if the model gets the PDF itself. */
export const isNative = ({ pages }: Pick<PromptDocument, "pages">, { pdf }: Takes): boolean =>
  pdf && pages <= nativePagesMost;

/**
 * Returns the messages with each PDF in the form that the asked model gets, which may be another than the one for which
 * the run or its thread read it: by that form its size is counted in the budget.
 */
export function suitDocuments(messages: PromptMessage[], takes: Takes): PromptMessage[] {
  const isSuited = messages.every(
    (message) =>
      message.role !== "user" || !message.documents?.some((each) => each.page_images !== imagesOf(each, takes)),
  );
  return isSuited ? messages : messages.map((message) => suited(message, takes));
}

function suited(message: PromptMessage, takes: Takes): PromptMessage {
  if (message.role !== "user" || !message.documents) return message;
  const documents = message.documents.map((document) => {
    const { page_images: _, ...same } = document;
    const page_images = imagesOf(document, takes);
    return page_images === undefined ? same : { ...same, page_images };
  });
  return { ...message, documents };
}

/** Number of pages that are shown beside the text; undefined if the model gets the PDF itself. */
function imagesOf(document: PromptDocument, takes: Takes): number | undefined {
  if (isNative(document, takes)) return undefined;
  const isShown = takes.page_images === "all" || (takes.page_images === "without_text" && document.text === null);
  if (takes.pdf || !isShown) return 0;
  return document.page_images ?? Math.min(document.pages, pageImageBounds.pages);
}
