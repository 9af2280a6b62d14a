import type { Fields } from "../../../hooks/use-form.ts";
import { wordsIn } from "../../../lib/words-in.ts";
import { Field } from "../../../ui/forms/field.tsx";
import { FormSection } from "../../../ui/forms/form-section.tsx";
import { TextArea } from "../../../ui/forms/text-area.tsx";
import { AuthField } from "../auth-field.tsx";
import { HeadersField } from "../headers-field.tsx";
import { ServerTools } from "../server-tools.tsx";
import { TimeoutField } from "../timeout-field.tsx";
import { readAuth } from "../tool-auth.ts";
import type { CommonDraft, ToolPart } from "./tool-part.ts";

export interface McpDraft {
  server_url: string;
  /** One name per line; empty for all. */
  allowed_tools: string;
}

export const part: ToolPart<McpDraft> = {
  hint: "Each tool of an MCP server becomes a tool of the agent.",
  target: ({ server_url }) => server_url ?? "",
  draftOf: (tool) => ({
    server_url: tool?.server_url ?? "",
    allowed_tools: (tool?.allowed_tools ?? []).join("\n"),
  }),
  read: ({ allowed_tools, ...draft }, { required, number, headers }) => ({
    server_url: required("server_url", "Enter the server's URL, such as https://mcp.example.com/mcp."),
    headers: headers(),
    auth: readAuth(draft, true),
    timeout_ms: number("timeout_ms"),
    allowed_tools: wordsIn(allowed_tools),
  }),
  Fields: McpFields,
  words: { server_url: "URL", allowed_tools: "allowed tools" },
  always: ["server_url"],
  hasParameters: () => false,
  nameHint: "Prefix for the names of the server's tools.",
  Above: ServerTools,
};

function McpFields(fields: Fields<CommonDraft & McpDraft>) {
  const { text } = fields;
  return (
    <FormSection
      title="Server"
      about="Over Streamable HTTP, or stdio:<name> for a program that the operator configured."
    >
      <Field label="URL" autoComplete="off" spellCheck={false} {...text("server_url")} />
      <HeadersField {...fields} />
      <AuthField {...fields} canDiscover />
      <div className="grid gap-4 rail:grid-cols-2">
        <TextArea
          label="Allowed tools"
          mono
          rows={3}
          placeholder="All"
          hint="Names of the server's tools, one per line."
          {...text("allowed_tools")}
        />
        <TimeoutField text={text} standard={30000} />
      </div>
    </FormSection>
  );
}
