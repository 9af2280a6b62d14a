import { jsonParseLinter } from "@codemirror/lang-json";
import { syntaxTree } from "@codemirror/language";
import { type Diagnostic, linter } from "@codemirror/lint";
import type { Extension } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import type { EditorLanguage } from "./languages.ts";

/** Maximum number of syntax errors shown: later ones follow from the first. */
const most = 3;

/** Marks syntax errors. */
export function syntaxLinter(language: EditorLanguage): Extension {
  if (language === "markdown") return [];
  return linter(language === "json" ? lintJson : lintSyntax);
}

const parse = jsonParseLinter();

/** Reports invalid JSON at the position of the error. */
function lintJson(view: EditorView): Diagnostic[] {
  if (isEmpty(view)) return [];
  const end = view.state.doc.length;
  return parse(view).map((fault) => ({
    ...fault,
    from: Math.min(fault.from, end - 1),
    to: Math.min(fault.from + 1, end),
  }));
}

const isEmpty = (view: EditorView): boolean => view.state.doc.toString().trim() === "";

function lintSyntax({ state }: EditorView): Diagnostic[] {
  const found: Diagnostic[] = [];
  syntaxTree(state).iterate({
    enter: ({ type, from, to }) => {
      if (!type.isError || found.length === most) return;
      const line = state.doc.lineAt(from);
      const start = from === to ? Math.max(line.from, from - 1) : from;
      found.push({ from: start, to: Math.min(Math.max(to, start + 1), state.doc.length), ...syntaxFault });
    },
  });
  return found;
}

const syntaxFault = { severity: "warning", message: "Syntax error: a character is missing or unexpected." } as const;
