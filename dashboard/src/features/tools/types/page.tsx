import type { Fields } from "../../../hooks/use-form.ts";
import { wordsIn } from "../../../lib/words-in.ts";
import { FormSection } from "../../../ui/forms/form-section.tsx";
import { TextArea } from "../../../ui/forms/text-area.tsx";
import { TimeoutField } from "../timeout-field.tsx";
import type { CommonDraft, ToolPart } from "./tool-part.ts";

export interface PageDraft {
  /** One host per line; empty for every public host. */
  allowed_hosts: string;
}

export const part: ToolPart<PageDraft> = {
  hint: "Reads web pages that the model chooses, as Markdown.",
  target: ({ allowed_hosts }) => allowed_hosts?.join(", ") || "Every public host",
  draftOf: (tool) => ({ allowed_hosts: (tool?.allowed_hosts ?? []).join("\n") }),
  read: ({ allowed_hosts }, { number }) => ({
    allowed_hosts: wordsIn(allowed_hosts),
    timeout_ms: number("timeout_ms"),
  }),
  Fields: PageFields,
  words: { allowed_hosts: "allowed hosts" },
  hasParameters: () => false,
};

function PageFields({ text }: Fields<CommonDraft & PageDraft>) {
  return (
    <FormSection title="Pages" about="The server reads the page and converts it in its sandbox.">
      <div className="grid gap-4 rail:grid-cols-2">
        <TextArea
          label="Allowed hosts"
          mono
          rows={3}
          placeholder="Every public host"
          hint="One per line, such as docs.example.com or *.example.com."
          {...text("allowed_hosts")}
        />
        <TimeoutField text={text} standard={30000} />
      </div>
    </FormSection>
  );
}
