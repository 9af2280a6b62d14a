import { type RequestDraft, RequestFields, readRequest, requestDraftOf, requestWords } from "./request-fields.tsx";
import type { ToolPart } from "./tool-part.ts";

export const part: ToolPart<RequestDraft> = {
  hint: "Like HTTP, for longer work: the output can be submitted later.",
  target: ({ url }) => `POST ${url}`,
  draftOf: requestDraftOf,
  read: readRequest,
  Fields: RequestFields,
  words: requestWords,
  always: ["url"],
};
