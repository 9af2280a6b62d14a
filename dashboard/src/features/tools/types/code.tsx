import { useQuery } from "@tanstack/react-query";
import type { CodeLanguage } from "../../../../../server/domain/agent-snapshot.ts";
import type { WorkspaceChoice } from "../../../../../server/domain/workspace-limits.ts";
import { fileApi } from "../../../entities/file/file-api.ts";
import type { Fields } from "../../../hooks/use-form.ts";
import { useWorkspace } from "../../../lib/workspace.ts";
import { CodeEditor } from "../../../ui/editor/code-editor.tsx";
import { Field } from "../../../ui/forms/field.tsx";
import { FormSection } from "../../../ui/forms/form-section.tsx";
import { RadioCards } from "../../../ui/forms/radio-cards.tsx";
import { SegmentedControl } from "../../../ui/forms/segmented-control.tsx";
import { TimeoutField } from "../timeout-field.tsx";
import { type CommonDraft, numberText, type ToolPart } from "./tool-part.ts";

export interface CodeDraft {
  language: CodeLanguage;
  /** True if the tool has a program of its own; false if the model writes the code. */
  hasSource: boolean;
  source: string;
  memory_mb: string;
  files: string[];
  workspace: WorkspaceChoice;
}

const exampleSource = {
  javascript: "(args) => {\n  return { sum: args.a + args.b };\n}\n",
  python: 'def main(args):\n    return {"sum": args["a"] + args["b"]}\n',
};

export const part: ToolPart<CodeDraft> = {
  hint: "JavaScript or Python in a sandbox without network access.",
  target: ({ language, source }) =>
    `${language === "python" ? "Python" : "JavaScript"}, ${source === null ? "written by the model" : "own source"}`,
  draftOf: (tool) => ({
    language: tool?.language ?? "javascript",
    hasSource: tool ? tool.source !== null : true,
    source: tool?.source ?? exampleSource[tool?.language ?? "javascript"],
    memory_mb: numberText(tool?.memory_mb),
    files: tool?.files ?? [],
    workspace: tool?.workspace ?? "run",
  }),
  read: ({ language, hasSource, source, files, workspace }, { number }) => ({
    language,
    source: hasSource ? source : null,
    timeout_ms: number("timeout_ms"),
    memory_mb: number("memory_mb"),
    files,
    workspace,
  }),
  Fields: CodeFields,
  words: { memory_mb: "memory" },
  always: ["source"],
  hasParameters: ({ hasSource }) => hasSource,
};

const writers = [
  { value: "own", label: "Your function", hint: "The model calls it with arguments." },
  { value: "model", label: "The model writes the code", hint: "Its one parameter is code." },
] as const;

const languages = [
  { value: "javascript", label: "JavaScript" },
  { value: "python", label: "Python" },
] as const;

const workspaces = [
  { value: "run", label: "Run" },
  { value: "thread", label: "Thread" },
  { value: "none", label: "Nothing" },
] as const;

/** Program and files of a code tool. */
function CodeFields({ draft, fieldErrors, set, text, code }: Fields<CommonDraft & CodeDraft>) {
  const at = useWorkspace();
  const files = useQuery(fileApi.every(at)).data ?? [];
  const { language, source } = draft;
  const isExample = source === exampleSource[language];
  return (
    <FormSection title="Code" about="Runs in a process without network access and with only its own files.">
      <div className="max-w-60">
        <SegmentedControl
          name="code language"
          label="Language"
          choices={languages}
          chosen={language}
          onChoose={(next) => set({ language: next, ...(isExample && { source: exampleSource[next] }) })}
        />
      </div>
      {fieldErrors.language && <p className="text-xs text-bad">{fieldErrors.language}</p>}
      <RadioCards
        label="Who writes it"
        choices={writers}
        chosen={draft.hasSource ? "own" : "model"}
        onChoose={(who) => set({ hasSource: who === "own" })}
      />
      {draft.hasSource && (
        <CodeEditor
          label="Source"
          language={language}
          className="min-h-60"
          hint="Tab indents; Escape, then Tab leaves. Errors appear when you test it."
          {...code("source")}
        />
      )}
      <div className="grid gap-4 rail:grid-cols-2">
        <TimeoutField text={text} standard={5000} />
        <Field
          label="Memory, MB"
          inputMode="numeric"
          placeholder={language === "python" ? "256" : "64"}
          {...text("memory_mb")}
        />
      </div>
      <div className="max-w-80">
        <SegmentedControl
          name="workspace"
          label="Shared folder and variables"
          choices={workspaces}
          chosen={draft.workspace}
          onChoose={(workspace) => set({ workspace })}
        />
      </div>
      {files.length > 0 && (
        <fieldset className="flex min-w-0 flex-col">
          <legend className="mb-1.5 font-medium">Files</legend>
          <div className="max-h-50 overflow-y-auto rounded-md border border-line">
            {files.map(({ id, filename }) => (
              <label
                key={id}
                className="flex min-h-(--control-sm) cursor-pointer items-center gap-2.5 border-b border-line-soft px-3 py-1 last:border-b-0 hover:bg-hover has-checked:bg-accent-soft"
              >
                <input
                  type="checkbox"
                  checked={draft.files.includes(id)}
                  onChange={(event) =>
                    set({
                      files: event.target.checked ? [...draft.files, id] : draft.files.filter((each) => each !== id),
                    })
                  }
                />
                <span className="min-w-0 wrap-anywhere">{filename}</span>
              </label>
            ))}
          </div>
          {fieldErrors.files && <p className="mt-1 text-xs text-bad">{fieldErrors.files}</p>}
        </fieldset>
      )}
    </FormSection>
  );
}
