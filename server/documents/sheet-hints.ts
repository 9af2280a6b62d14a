import type { XmlListener } from "./xml.ts";

/** What cells tell whoever fills them in: their hint, what is said of what they refuse, and what they may be. */
export function hintReader(): XmlListener & { hints: Set<string> } {
  const hints = new Set<string>();
  let [said, reading, formula] = [[] as string[], false, ""];
  return {
    hints,
    open(name, attribute) {
      const told = (title: string, text: string) =>
        [attribute(title) ?? "", attribute(text) ?? ""].filter((one) => one.trim() !== "").join(": ");
      reading = name === "formula1";
      if (name !== "dataValidation") return;
      said = [told("promptTitle", "prompt"), told("errorTitle", "error")];
      formula = "";
    },
    close(name) {
      reading = false;
      if (name !== "dataValidation") return;
      // Others name the cells that they are in.
      const choices = /^"(.*)"$/s.exec(formula.trim())?.[1]?.split(",").join(", ") ?? "";
      const parts = [...said, choices === "" ? "" : `Choices: ${choices}`].filter((part) => part !== "");
      if (parts.length > 0) hints.add(parts.join(". "));
    },
    text(piece) {
      if (reading) formula += piece;
    },
  };
}
