import { type RequestDraft, RequestFields, readRequest, requestDraftOf, requestWords } from "./request-fields.tsx";
import type { ToolPart } from "./tool-part.ts";

export const webhookPart: ToolPart<RequestDraft> = {
  word: "Webhook",
  hint: "The same, for work that takes longer: the output may come later.",
  target: ({ url }) => `POST ${url}`,
  draftOf: requestDraftOf,
  read: readRequest,
  Fields: RequestFields,
  words: requestWords,
  always: ["url"],
};
