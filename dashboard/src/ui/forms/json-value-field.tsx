import { useState } from "react";
import { isJsonObject, jsonText, readJson } from "../../lib/json-text.ts";
import { JsonField } from "./json-field.tsx";

/** JSON within a larger value. Invalid text is kept as a string, which the server rejects. */
export function JsonValueField({
  value,
  onValue,
  ...rest
}: {
  label: string;
  hint?: string;
  value: unknown;
  onValue: (value: unknown) => void;
}) {
  const [text, setText] = useState(() => textOf(value));
  const isSame = JSON.stringify(parseValue(text)) === JSON.stringify(value);
  return (
    <JsonField
      {...rest}
      value={isSame ? text : textOf(value)}
      onText={(next) => {
        setText(next);
        onValue(parseValue(next));
      }}
    />
  );
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : jsonText(value));

function parseValue(text: string): unknown {
  const { value } = readJson(text);
  return isJsonObject(value) ? value : text;
}
