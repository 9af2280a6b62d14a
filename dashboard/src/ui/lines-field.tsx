import { type ComponentProps, useState } from "react";
import { TextArea } from "./text-area.tsx";

/** The texts that stand in a text, one a line. */
const linesIn = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/** A list of texts, one a line. What is typed stands as it is, though an empty line is none of the list. */
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
