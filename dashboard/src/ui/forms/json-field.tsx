import { useState } from "react";
import { readJson } from "../../lib/json-text.ts";
import { CodeEditor, type CodeEditorProps } from "../editor/code-editor.tsx";

export interface JsonFieldProps {
  value: string;
  onText: (text: string) => void;
  /** Error besides invalid JSON. */
  fault?: string | null;
}

/** JSON text area. Its error appears on blur and disappears while it is being corrected. */
export function JsonField({
  fault,
  optional = false,
  ...rest
}: Omit<CodeEditorProps, "language" | "error" | "onLeave"> &
  JsonFieldProps & {
    /** True if it may be empty. */
    optional?: boolean;
  }) {
  const [left, setLeft] = useState(false);
  const own = optional && rest.value.trim() === "" ? null : readJson(rest.value).fault;
  return <CodeEditor language="json" error={(left && own) || fault || null} onLeave={() => setLeft(true)} {...rest} />;
}
