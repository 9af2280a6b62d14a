import { type ComponentProps, useState } from "react";
import { TextArea } from "./text-area.tsx";

/** Splits a text into its non-empty lines. */
const linesIn = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/** A list of strings, one per line. Empty lines stay in the field but are not part of the list. */
export function LinesField({
  lines,
  onLines,
  ...rest
}: Omit<ComponentProps<typeof TextArea>, "value" | "onChange"> & {
  lines: readonly string[];
  onLines: (lines: string[]) => void;
}) {
  const [text, setText] = useState(lines.join("\n"));
  const isSame = linesIn(text).join("\n") === lines.join("\n");
  return (
    <TextArea
      {...rest}
      value={isSame ? text : lines.join("\n")}
      onChange={({ target }) => {
        setText(target.value);
        onLines(linesIn(target.value));
      }}
    />
  );
}
