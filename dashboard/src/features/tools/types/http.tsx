import type { HttpResponseType } from "../../../../../server/domain/agent-snapshot.ts";
import { jsonText } from "../../../lib/json-text.ts";
import { wordsIn } from "../../../lib/words-in.ts";
import { JsonField } from "../../../ui/forms/json-field.tsx";
import { Select } from "../../../ui/forms/select.tsx";
import { TextArea } from "../../../ui/forms/text-area.tsx";
import { type RequestDraft, RequestFields, readRequest, requestDraftOf, requestWords } from "./request-fields.tsx";
import type { ToolPart } from "./tool-part.ts";

export interface HttpDraft {
  method: string;
  response: HttpResponseType;
  /** One path per line; empty for the whole response. */
  output_fields: string;
  /** JSON; empty for none. */
  failures: string;
}

export const part: ToolPart<RequestDraft & HttpDraft> = {
  hint: "The server sends the arguments to a URL. The response is the output.",
  target: ({ method, url }) => `${method} ${url}`,
  draftOf: (tool) => ({
    ...requestDraftOf(tool),
    method: tool?.method ?? "POST",
    response: tool?.response ?? "json",
    output_fields: (tool?.output_fields ?? []).join("\n"),
    failures: tool?.failures ? jsonText(tool.failures) : "",
  }),
  read: (draft, reader) => {
    const { url, headers, auth, timeout_ms, retries, idempotent } = readRequest(draft, reader);
    const { method, response, output_fields } = draft;
    return {
      url,
      method,
      headers,
      auth,
      timeout_ms,
      retries,
      idempotent,
      response,
      output_fields: wordsIn(output_fields),
      failures: reader.list("failures"),
    };
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
      fields={
        <>
          {props.draft.response === "json" && (
            <TextArea
              label="Fields of the response"
              mono
              rows={3}
              placeholder="All"
              hint="Paths, one per line, such as results.title. The model reads these only."
              {...props.text("output_fields")}
            />
          )}
          <details className="min-w-0" open={props.draft.failures !== "" || undefined}>
            <summary className="w-fit font-medium text-muted hover:text-ink">
              Failures with status 200, and hints
            </summary>
            <div className="pt-3">
              <JsonField
                label="Failures"
                optional
                placeholder='[{"field": "ok", "equals": false, "hint": "Ask later."}]'
                hint="Responses that are errors for the model, by status or field."
                {...props.json("failures")}
              />
            </div>
          </details>
        </>
      }
    />
  ),
  words: {
    ...requestWords,
    response: "response format",
    output_fields: "fields of the response",
    failures: "failures",
  },
  always: ["url"],
};
