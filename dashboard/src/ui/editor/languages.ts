import type { LanguageSupport } from "@codemirror/language";

/** What is written in an editor. */
export type EditorLanguage = "json" | "javascript" | "python" | "markdown";

/** Each language is loaded by the editors that need it. */
export const languages: Record<EditorLanguage, () => Promise<LanguageSupport>> = {
  json: async () => (await import("@codemirror/lang-json")).json(),
  javascript: async () => (await import("@codemirror/lang-javascript")).javascript(),
  python: async () => (await import("@codemirror/lang-python")).python(),
  markdown: async () => (await import("@codemirror/lang-markdown")).markdown(),
};

/** In code Tab indents; in a text it goes on to the next field, as everywhere else. */
export const indents = (language: EditorLanguage): boolean => language === "javascript" || language === "python";
