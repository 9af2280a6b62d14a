import { cleanText, decode } from "./decode.ts";
import type { Certainty } from "./detect-encoding.ts";
import type { Outline } from "./outline.ts";
import type { ParseOptions } from "./parse-options.ts";

/** Decodes the text of a document by {@link decode}, and reports its encoding, a guess and what was lost. */
export function decodeDocument(
  bytes: Uint8Array,
  outline: Outline,
  { encoding: given }: Pick<ParseOptions, "encoding">,
  declared?: string,
): string {
  const { text, encoding, guess, lost } = decode(bytes, { given, declared });
  outline.encodedAs(encoding);
  if (guess !== null) outline.warn("encoding_guessed", guessWords(encoding, guess));
  if (lost > 0) outline.warn("encoding_errors", lossWords(encoding, lost));
  return cleanText(text);
}

const certaintyWords: Record<Certainty, string> = {
  sure: "which is almost certain",
  likely: "which is likely",
  unsure: "which is a guess from few letters",
};

const guessWords = (encoding: string, certainty: Certainty): string =>
  `The file does not say its encoding. It was read as ${encoding}, ${certaintyWords[certainty]}. If words look wrong, upload it with \`encoding\`.`;

const lossWords = (encoding: string, lost: number): string =>
  lost === 1
    ? `One character is not valid in ${encoding} and was replaced by "\ufffd".`
    : `${lost} characters are not valid in ${encoding} and were replaced by "\ufffd".`;
