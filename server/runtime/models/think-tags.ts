// More white space than this is text.
const blankMax = 1024;

type Append = (kind: "output" | "reasoning", piece: string) => void;

const names = ["think", "thinking", "thought", "reasoning"];
const openTags = names.map((name) => `<${name}>`);

/**
 * Separates reasoning that a model wrote in tags at the beginning of its text, as servers without a parser for it send
 * it. Text that may be the beginning of a tag is held back.
 */
export function thinkTags(append: Append) {
  let state: "start" | "reasoning" | "answer" | "plain" = "start";
  let held = "";
  let closeTag = "";
  let blanks = 0;

  function push(piece: string): void {
    if (state === "plain") append("output", piece);
    else collect(piece);
  }

  function collect(piece: string): void {
    held += piece;
    if (state === "start") begin();
    if (state === "reasoning") reason();
    if (state === "answer") answer();
  }

  function begin(): void {
    const text = held.trimStart();
    const tag = openTags.find((one) => text.startsWith(one));
    if (tag) {
      state = "reasoning";
      closeTag = `</${tag.slice(1)}`;
      held = text.slice(tag.length);
    } else if (held.length > blankMax || !openTags.some((one) => one.startsWith(text))) release();
  }

  function reason(): void {
    const end = held.indexOf(closeTag);
    const shown = end === -1 ? held.length - heldBack(held, closeTag) : end;
    append("reasoning", held.slice(0, shown));
    held = held.slice(end === -1 ? shown : end + closeTag.length);
    if (end !== -1) state = "answer";
  }

  /** Leaves out the white space between the reasoning and the answer. */
  function answer(): void {
    blanks += held.length;
    held = held.trimStart();
    if (held !== "" || blanks > blankMax) release();
  }

  function release(): void {
    state = "plain";
    append("output", held);
    held = "";
  }

  /** Appends the text that is held back at the end of the answer. */
  function end(): void {
    append(state === "reasoning" ? "reasoning" : "output", held);
    held = "";
  }

  return { push, end };
}

/** Length of the end of a text that may be the beginning of a tag. */
function heldBack(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--)
    if (text.endsWith(tag.slice(0, length))) return length;
  return 0;
}
