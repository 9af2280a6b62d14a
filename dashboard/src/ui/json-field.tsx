import { useState } from "react";
import { readJson } from "../lib/json-text.ts";
import { CodeEditor, type CodeEditorProps } from "./code-editor.tsx";

export interface JsonFieldProps {
  value: string;
  onText: (text: string) => void;
  /** What else is wrong, beside not being JSON. */
  fault?: string | null;
}

/** JSON to write. What is wrong with it is said once the field was left, and taken back while it is mended. */
export function JsonField({
  fault,
  optional = false,
  ...rest
}: Omit<CodeEditorProps, "language" | "error" | "onLeave"> &
  JsonFieldProps & {
    /** Nothing is something, too. */
    optional?: boolean;
  }) {
  const [left, setLeft] = useState(false);
  const own = optional && rest.value.trim() === "" ? null : readJson(rest.value).fault;
  return <CodeEditor language="json" error={(left && own) || fault || null} onLeave={() => setLeft(true)} {...rest} />;
}
