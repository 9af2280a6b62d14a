const comment = "> Comment: ";

export type OdfBeside = ReturnType<typeof odfBeside>;

/** Collects content that is output after the paragraph it is anchored to: text boxes, notes, comments and pictures. */
export function odfBeside() {
  let texts: string[] = [];
  // For each open element: the index of its first text, and its mark.
  const open: { from: number; mark: string }[] = [];
  let notes = 0;
  let author = "";
  const start = (mark = "") => void open.push({ from: texts.length, mark });
  return {
    isOpen: () => open.length > 0,
    start,
    /** Starts a note and returns the mark for the paragraph. */
    startNote(): string {
      start(`[^${++notes}]: `);
      return `[^${notes}]`;
    },
    startComment(): void {
      author = "";
      start(comment);
    },
    addAuthor(text: string): void {
      author += text;
    },
    endAuthor(): void {
      const last = open.at(-1);
      if (last?.mark === comment) last.mark = `> Comment by ${author}: `;
    },
    add(text: string): void {
      if (text !== "") texts.push(text);
    },
    end(): void {
      const { from = 0, mark = "" } = open.pop() ?? {};
      const own = texts.splice(from);
      if (mark === "") texts.push(...own);
      else texts.push(mark + own.join(" "));
    },
    /** Returns the collected texts and clears them. */
    take(): string[] {
      const result = texts;
      texts = [];
      return result;
    },
  };
}
