import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentOnInput, indentUnit, type LanguageSupport } from "@codemirror/language";
import { lintKeymap } from "@codemirror/lint";
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
import { hiddenCharacter, named } from "../../lib/visible-text.ts";
import { faultsIn } from "./faults.ts";
import { type SchemaSource, schemaHints } from "./hints.ts";
import { type EditorLanguage, indents } from "./languages.ts";
import { prose, theme } from "./theme.ts";

interface SurfaceProps {
  language: EditorLanguage;
  support: LanguageSupport;
  text: string;
  onText: (text: string) => void;
  onLeave?: () => void;
  /** Attributes of what has the focus: its id, its label, what is wrong with it. */
  attributes: Record<string, string>;
  readOnly: boolean;
  placeholder: string | undefined;
  /** What JSON has to fit: said while it is written. */
  schema: SchemaSource | undefined;
  /** Where the selection begins and ends, if it has the focus from its first moment. It is known once this is shown. */
  focus: RefObject<readonly [number, number] | null>;
}

/** Of a change that comes from outside. */
const given = Annotation.define<boolean>();

/** For so long after Escape, Tab moves the focus out of code: ten minutes, so that there is no hurry. */
const leaving_ms = 600_000;

/** Ctrl ↵ submits the form and adds no line. Where Escape closes a panel or a list, it does not close the dialog too. */
const keys: KeyBinding[] = [
  ...closeBracketsKeymap,
  ...completionKeymap,
  ...searchKeymap,
  ...historyKeymap,
  ...lintKeymap,
  ...defaultKeymap.filter(({ key }) => key !== "Mod-Enter"),
].map((binding) => (binding.key === "Escape" ? { ...binding, stopPropagation: true } : binding));

/** An editor of CodeMirror, of one language from beginning to end. What is written in it is its own; a text from outside that is another one replaces it. */
export function Surface(props: SurfaceProps) {
  const { language, support, text, readOnly, placeholder, schema, focus } = props;
  const said = JSON.stringify(props.attributes);
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<{ view: EditorView; changing: Compartment } | null>(null);
  const onText = useEffectEvent(props.onText);
  const onLeave = useEffectEvent(() => props.onLeave?.());
  const extensions = useEffectEvent((changing: Compartment) => [
    fixedOf(language, support),
    changing.of(changingOf({ language, readOnly, placeholder, schema, attributes: said })),
  ]);
  const begun = useEffectEvent(() => ({ doc: text, held: focus.current && clipped(focus.current, text.length) }));
  useLayoutEffect(() => {
    const changing = new Compartment();
    const { doc, held } = begun();
    const view = new EditorView({
      parent: place.current!,
      state: EditorState.create({
        doc,
        selection: held ?? undefined,
        extensions: [
          extensions(changing),
          EditorView.updateListener.of((update) => {
            if (update.docChanged && !update.transactions.some((each) => each.annotation(given)))
              onText(update.state.doc.toString());
          }),
          EditorView.domEventHandlers({
            blur: (event) => {
              if (!place.current?.contains(event.relatedTarget as Node | null)) onLeave();
            },
            beforeinput: replace,
          }),
          // Also where Escape has done something else, such as to end a selection.
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
  // At once: what is typed meanwhile would be taken for a text from outside.
  useLayoutEffect(() => {
    const view = editor.current?.view;
    const next = text.replace(/\r\n?/g, "\n");
    const before = view?.state.doc.toString();
    if (view && before !== next)
      view.dispatch({ changes: { from: 0, to: before!.length, insert: next }, annotations: given.of(true) });
  }, [text]);
  useEffect(() => {
    const { view, changing } = editor.current!;
    view.dispatch({
      effects: changing.reconfigure(changingOf({ language, readOnly, placeholder, schema, attributes: said })),
    });
  }, [language, readOnly, placeholder, schema, said]);
  return <div ref={place} className="flex min-h-0 flex-1 flex-col" />;
}

/**
 * What is typed over a selection. A browser that replaces text by itself keeps the look of it by inline styles, which the
 * policy of the page refuses and reports.
 */
function replace(event: InputEvent, view: EditorView): boolean {
  const { inputType, data, isComposing } = event;
  if (inputType !== "insertText" || data === null || isComposing || view.state.readOnly) return false;
  // The browser's own: the editor's may be older by an event.
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

/** The words of its search, as the page writes them. */
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

/** Stands for a character that shows nothing. */
function hiddenMark(code: number): HTMLElement {
  const mark = document.createElement("span");
  mark.className = "cm-specialChar";
  mark.textContent = named(String.fromCodePoint(code));
  return mark;
}

/** What an editor of a language has from beginning to end. */
const fixedOf = (language: EditorLanguage, support: LanguageSupport): Extension => [
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
  faultsIn(language),
];

function changingOf({
  attributes,
  readOnly,
  placeholder,
  schema,
  language,
}: Pick<SurfaceProps, "readOnly" | "placeholder" | "schema" | "language"> & { attributes: string }): Extension {
  return [
    // It can be focused without this, but tools that look for focusable elements need the attribute.
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

/** With which the page's policy lets the editor add its styles; the browser hands it to scripts alone. */
const nonce = (): string => document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.nonce ?? "";
