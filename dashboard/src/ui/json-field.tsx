import { type ComponentProps, useState } from "react";
import { readJson } from "../lib/json-text.ts";
import { TextArea } from "./text-area.tsx";

export interface JsonFieldProps {
  value: string;
  onText: (text: string) => void;
  /** What else is wrong, beside not being JSON. */
  fault?: string | null;
}

/** JSON to write. What is wrong with it is said once the field was left, and taken back while it is mended. */
export function JsonField({
  value,
  onText,
  fault,
  optional = false,
  ...rest
}: Omit<ComponentProps<typeof TextArea>, "value" | "onChange" | "mono" | "error"> &
  JsonFieldProps & {
    /** Nothing is something, too. */
    optional?: boolean;
  }) {
  const [left, setLeft] = useState(false);
  const own = optional && value.trim() === "" ? null : readJson(value).fault;
  return (
    <TextArea
      mono
      value={value}
      error={(left && own) || fault || null}
      onChange={(event) => onText(event.target.value)}
      onBlur={() => setLeft(true)}
      {...rest}
    />
  );
}
