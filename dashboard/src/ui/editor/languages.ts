import type { LanguageSupport } from "@codemirror/language";

/** Language of an editor. */
export type EditorLanguage = "json" | "javascript" | "python" | "markdown";

/** Loaders of the languages. */
export const languages: Record<EditorLanguage, () => Promise<LanguageSupport>> = {
  json: async () => (await import("@codemirror/lang-json")).json(),
  javascript: async () => (await import("@codemirror/lang-javascript")).javascript(),
  python: async () => (await import("@codemirror/lang-python")).python(),
  markdown: async () => (await import("@codemirror/lang-markdown")).markdown(),
};

/** True if Tab indents, as in code; otherwise Tab moves to the next field. */
export const indents = (language: EditorLanguage): boolean => language === "javascript" || language === "python";
