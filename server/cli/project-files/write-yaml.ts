import { Document, visit } from "yaml";

/** Writes a value as YAML that reads as the same value. */
export function writeYaml(value: unknown): string {
  const document = new Document(value);
  visit(document, {
    Scalar(_, node) {
      // The library indents such a text as a block, which is read with other spaces.
      if (typeof node.value === "string" && blankStart.test(node.value)) node.type = "QUOTE_DOUBLE";
    },
  });
  return document.toString({ lineWidth: 0 });
}

/** A first line of blanks alone, or a whole text of blanks and line ends. */
const blankStart = /^(?:[ \t]+\n|[ \t\n]+$)/;
