import type { HttpResponseType } from "../../../../../server/domain/agent-snapshot.ts";
import { Select } from "../../../ui/forms/select.tsx";
import { type RequestDraft, RequestFields, readRequest, requestDraftOf, requestWords } from "./request-fields.tsx";
import type { ToolPart } from "./tool-part.ts";

export interface HttpDraft {
  method: string;
  response: HttpResponseType;
}

export const part: ToolPart<RequestDraft & HttpDraft> = {
  hint: "The server sends the arguments to a URL. The response is the output.",
  target: ({ method, url }) => `${method} ${url}`,
  draftOf: (tool) => ({
    ...requestDraftOf(tool),
    method: tool?.method ?? "POST",
    response: tool?.response ?? "json",
  }),
  read: (draft, reader) => {
    const { url, headers, timeout_ms, retries, idempotent } = readRequest(draft, reader);
    const { method, response } = draft;
    return { url, method, headers, timeout_ms, retries, idempotent, response };
  },
  Fields: (props) => (
    <RequestFields
      {...props}
      method={
        <Select
          label="Method"
          choices={["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"].map((value) => ({ value, label: value }))}
          {...props.pick("method")}
        />
      }
      answer={
        <Select
          label="Response format"
          choices={[
            { value: "json", label: "JSON" },
            { value: "text", label: "Text" },
          ]}
          {...props.pick("response")}
        />
      }
    />
  ),
  words: { ...requestWords, response: "response format" },
  always: ["url"],
};
