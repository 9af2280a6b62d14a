import type { XmlListener } from "./xml.ts";

/** Collects the input hints, error messages and allowed values of cells (data validation). */
export function hintReader(): XmlListener & { hints: Set<string> } {
  const hints = new Set<string>();
  let [hintTexts, reading, formula] = [[] as string[], false, ""];
  return {
    hints,
    open(name, attribute) {
      const told = (title: string, text: string) =>
        [attribute(title) ?? "", attribute(text) ?? ""].filter((one) => one.trim() !== "").join(": ");
      reading = name === "formula1";
      if (name !== "dataValidation") return;
      hintTexts = [told("promptTitle", "prompt"), told("errorTitle", "error")];
      formula = "";
    },
    close(name) {
      reading = false;
      if (name !== "dataValidation") return;
      // A formula that is no literal list refers to other cells.
      const choices = /^"(.*)"$/s.exec(formula.trim())?.[1]?.split(",").join(", ") ?? "";
      const parts = [...hintTexts, choices === "" ? "" : `Choices: ${choices}`].filter((part) => part !== "");
      if (parts.length > 0) hints.add(parts.join(". "));
    },
    text(piece) {
      if (reading) formula += piece;
    },
  };
}
