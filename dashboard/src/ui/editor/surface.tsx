import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { jsonParseLinter } from "@codemirror/lang-json";
import { bracketMatching, indentOnInput, indentUnit, type LanguageSupport, syntaxTree } from "@codemirror/language";
import { type Diagnostic, linter, lintKeymap } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Annotation, Compartment, EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightSpecialChars,
  type KeyBinding,
  keymap,
  lineNumbers,
  placeholder as placeholderOf,
} from "@codemirror/view";
import { type RefObject, useEffect, useEffectEvent, useLayoutEffect, useRef } from "react";
import { hiddenCharacter, nameCharacters } from "../../lib/visible-text.ts";
import { type SchemaSource, schemaHints } from "./hints.ts";
import { type EditorLanguage, indents } from "./languages.ts";
import { prose, theme } from "./theme.ts";

interface SurfaceProps {
  language: EditorLanguage;
  support: LanguageSupport;
  text: string;
  onText: (text: string) => void;
  onLeave?: () => void;
  /** Attributes of the focusable element: id, label, error. */
  attributes: Record<string, string>;
  readOnly: boolean;
  placeholder: string | undefined;
  /** JSON Schema, for validation while typing. */
  schema: SchemaSource | undefined;
  /** Initial selection if the editor is to be focused on mount. Read after mounting. */
  focus: RefObject<readonly [number, number] | null>;
}

/** Marks a change from outside. */
const externalChange = Annotation.define<boolean>();

/** Milliseconds after Escape during which Tab leaves code: ten minutes, so that there is no hurry. */
const leaving_ms = 600_000;

/**
 * Key bindings. Ctrl ↵ submits the form instead of adding a line. Escape that closes a panel or a list does not also
 * close the dialog.
 */
const keys: KeyBinding[] = [
  ...closeBracketsKeymap,
  ...completionKeymap,
  ...searchKeymap,
  ...historyKeymap,
  ...lintKeymap,
  ...defaultKeymap.filter(({ key }) => key !== "Mod-Enter"),
].map((binding) => (binding.key === "Escape" ? { ...binding, stopPropagation: true } : binding));

/** CodeMirror editor with a fixed language. It owns its text; a different text from outside replaces it. */
export function Surface(props: SurfaceProps) {
  const { language, support, text, readOnly, placeholder, schema, focus } = props;
  const attributesJson = JSON.stringify(props.attributes);
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<{ view: EditorView; changing: Compartment } | null>(null);
  const onText = useEffectEvent(props.onText);
  const onLeave = useEffectEvent(() => props.onLeave?.());
  const extensions = useEffectEvent((changing: Compartment) => [
    staticExtensions(language, support),
    changing.of(dynamicExtensions({ language, readOnly, placeholder, schema, attributes: attributesJson })),
  ]);
  const readInitialState = useEffectEvent(() => ({
    doc: text,
    held: focus.current && clipped(focus.current, text.length),
  }));
  useLayoutEffect(() => {
    const changing = new Compartment();
    const { doc, held } = readInitialState();
    const view = new EditorView({
      parent: place.current!,
      state: EditorState.create({
        doc,
        selection: held ?? undefined,
        extensions: [
          extensions(changing),
          EditorView.updateListener.of((update) => {
            if (update.docChanged && !update.transactions.some((each) => each.annotation(externalChange)))
              onText(update.state.doc.toString());
          }),
          EditorView.domEventHandlers({
            blur: (event) => {
              if (!place.current?.contains(event.relatedTarget as Node | null)) onLeave();
            },
            beforeinput: replace,
          }),
          // Even if Escape did something else, such as clearing a selection.
          EditorView.domEventObservers({
            keydown: ({ key }) => {
              if (key === "Escape") queueMicrotask(() => view.setTabFocusMode(leaving_ms));
            },
          }),
        ],
      }),
    });
    if (held) view.focus();
    editor.current = { view, changing };
    return () => view.destroy();
  }, []);
  // In a layout effect: text typed in between would be mistaken for a change from outside.
  useLayoutEffect(() => {
    const view = editor.current?.view;
    const next = text.replace(/\r\n?/g, "\n");
    const before = view?.state.doc.toString();
    if (view && before !== next)
      view.dispatch({ changes: { from: 0, to: before!.length, insert: next }, annotations: externalChange.of(true) });
  }, [text]);
  useEffect(() => {
    const { view, changing } = editor.current!;
    view.dispatch({
      effects: changing.reconfigure(
        dynamicExtensions({ language, readOnly, placeholder, schema, attributes: attributesJson }),
      ),
    });
  }, [language, readOnly, placeholder, schema, attributesJson]);
  return <div ref={place} className="flex min-h-0 flex-1 flex-col" />;
}

/**
 * Handles typing over a selection. The browser's own replacement would copy inline styles, which the content security
 * policy blocks and reports.
 */
function replace(event: InputEvent, view: EditorView): boolean {
  const { inputType, data, isComposing } = event;
  if (inputType !== "insertText" || data === null || isComposing || view.state.readOnly) return false;
  // The browser's selection: the editor's may be one event behind.
  const selected = document.getSelection();
  if (!selected || selected.isCollapsed) return false;
  const range = selected.getRangeAt(0);
  const from = view.posAtDOM(range.startContainer, range.startOffset);
  const to = view.posAtDOM(range.endContainer, range.endOffset);
  const insert = () =>
    view.state.update({
      changes: { from, to, insert: data },
      selection: { anchor: from + view.state.toText(data).length },
      userEvent: "input.type",
      scrollIntoView: true,
    });
  const handlers = view.state.facet(EditorView.inputHandler);
  if (!handlers.some((handle) => handle(view, from, to, data, insert))) view.dispatch(insert());
  event.preventDefault();
  return true;
}

const clipped = ([anchor, head]: readonly [number, number], end: number) => ({
  anchor: Math.min(anchor, end),
  head: Math.min(head, end),
});

/** Labels of the search panel. */
const phrases = {
  next: "Next",
  previous: "Previous",
  all: "All",
  "match case": "Match case",
  regexp: "Regular expression",
  "by word": "Whole word",
  replace: "Replace",
  "replace all": "Replace all",
  close: "Close",
};

/** Renders the placeholder of an invisible character. */
function hiddenMark(code: number): HTMLElement {
  const mark = document.createElement("span");
  mark.className = "cm-specialChar";
  mark.textContent = nameCharacters(String.fromCodePoint(code));
  return mark;
}

/** Extensions that depend only on the language. */
const staticExtensions = (language: EditorLanguage, support: LanguageSupport): Extension => [
  EditorView.cspNonce.of(nonce()),
  language === "markdown" ? [prose, EditorView.lineWrapping] : [],
  theme,
  support,
  indentUnit.of(language === "python" ? "    " : "  "),
  history(),
  highlightSpecialChars({ specialChars: hiddenCharacter, render: hiddenMark }),
  drawSelection(),
  bracketMatching(),
  closeBrackets(),
  indentOnInput(),
  autocompletion(),
  search({ top: true }),
  EditorState.phrases.of(phrases),
  highlightSelectionMatches(),
  keymap.of(indents(language) ? [...keys, indentWithTab] : keys),
  indents(language) ? lineNumbers() : [],
  syntaxLinter(language),
];

function dynamicExtensions({
  attributes,
  readOnly,
  placeholder,
  schema,
  language,
}: Pick<SurfaceProps, "readOnly" | "placeholder" | "schema" | "language"> & { attributes: string }): Extension {
  return [
    // Focusable without it, but tools that look for focusable elements need the attribute.
    EditorView.contentAttributes.of({
      tabindex: "0",
      ...JSON.parse(attributes),
      ...(readOnly && { "aria-readonly": "true" }),
    }),
    EditorState.readOnly.of(readOnly),
    placeholder ? placeholderOf(placeholder) : [],
    language === "json" && schema ? schemaHints(schema) : [],
  ];
}

/** Nonce that lets the editor add styles under the content security policy; browsers expose it only to scripts. */
const nonce = (): string => document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.nonce ?? "";

/** Maximum number of syntax errors shown: later ones follow from the first. */
const most = 3;

/** Marks syntax errors. */
function syntaxLinter(language: EditorLanguage): Extension {
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
