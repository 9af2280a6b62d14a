import { jsonParseLinter } from "@codemirror/lang-json";
import { syntaxTree } from "@codemirror/language";
import { type Diagnostic, linter } from "@codemirror/lint";
import type { Extension } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import type { EditorLanguage } from "./languages.ts";

/** After the first places that cannot be read, the rest follows from them. */
const most = 3;

/** Marks where what is written cannot be read. */
export function faultsIn(language: EditorLanguage): Extension {
  if (language === "markdown") return [];
  return linter(language === "json" ? unparsed : unread);
}

const parse = jsonParseLinter();

/** JSON that is none, at the sign where it goes wrong. */
function unparsed(view: EditorView): Diagnostic[] {
  if (isEmpty(view)) return [];
  const end = view.state.doc.length;
  return parse(view).map((fault) => ({
    ...fault,
    from: Math.min(fault.from, end - 1),
    to: Math.min(fault.from + 1, end),
  }));
}

const isEmpty = (view: EditorView): boolean => view.state.doc.toString().trim() === "";

function unread({ state }: EditorView): Diagnostic[] {
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
