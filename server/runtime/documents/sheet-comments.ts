import type { PartReader } from "./xml.ts";

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();
const by = (author: string): string => (author === "" ? "" : ` by ${author}`);

/** Returns "> Comment on B2 by Ann: …" for each comment, except in cells with a thread, which repeats it. */
export function commentsOf(read: PartReader, threaded: ReadonlySet<string>): string[] {
  const [authors, comments]: [string[], string[]] = [[], []];
  let [cell, author, text] = ["", "", ""];
  let reading = false;
  read({
    open(name, attribute) {
      if (name === "author" || name === "comment") text = "";
      if (name === "comment")
        [cell, author] = [attribute("ref") ?? "a cell", authors[Number(attribute("authorId") ?? -1)] ?? ""];
      reading = name === "t" || name === "author";
    },
    close(name) {
      reading = false;
      if (name === "author") authors.push(oneLine(text));
      if (name !== "comment" || threaded.has(cell)) return;
      comments.push(`> Comment on ${cell}${by(author)}: ${oneLine(text)}`);
    },
    text(piece) {
      if (reading) text += piece;
    },
  });
  return comments;
}

/** Returns the names of comment authors by their ids. */
export function personsOf(read: PartReader): Map<string, string> {
  const persons = new Map<string, string>();
  read({
    open(name, attribute) {
      if (name === "person") persons.set(attribute("id") ?? "", attribute("displayName") ?? "");
    },
  });
  return persons;
}

/** Returns comments with their replies, by cell. */
export function threadsOf(read: PartReader, persons: ReadonlyMap<string, string>): Map<string, string[]> {
  const threads = new Map<string, string[]>();
  let [cell, mark, text] = ["", "", ""];
  let reading = false;
  read({
    open(name, attribute) {
      reading = name === "text";
      if (name !== "threadedComment") return;
      [cell, text] = [attribute("ref") ?? "a cell", ""];
      const kind = attribute("parentId") === null ? "Comment" : "Reply";
      mark = `> ${kind} on ${cell}${by(oneLine(persons.get(attribute("personId") ?? "") ?? ""))}: `;
    },
    close(name) {
      reading = false;
      if (name === "threadedComment") threads.set(cell, [...(threads.get(cell) ?? []), mark + oneLine(text)]);
    },
    text(piece) {
      if (reading) text += piece;
    },
  });
  return threads;
}
