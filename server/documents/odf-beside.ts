const comment = "> Comment: ";

export type OdfBeside = ReturnType<typeof odfBeside>;

/** What stands beside the text, behind the paragraph that it is tied to: text boxes, notes, comments and pictures. */
export function odfBeside() {
  let texts: string[] = [];
  // Where each that is open begins in them, and what stands before it.
  const open: { from: number; mark: string }[] = [];
  let notes = 0;
  let author = "";
  const start = (mark = "") => void open.push({ from: texts.length, mark });
  return {
    isOpen: () => open.length > 0,
    start,
    /** Gives the mark that the paragraph has of it. */
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
    /** What there is, which is forgotten. */
    take(): string[] {
      const taken = texts;
      texts = [];
      return taken;
    },
  };
}
