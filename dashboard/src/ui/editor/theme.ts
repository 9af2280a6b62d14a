import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** Editor theme based on the page's tokens, which cover light and dark. */
const shape = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "transparent", flex: "1", minHeight: "0" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": {
    fontFamily: "var(--font-mono)",
    fontSize: "var(--text-xs)",
    lineHeight: "var(--leading-sm)",
    overflow: "auto",
  },
  ".cm-content": { padding: "var(--space-1-5) 0", caretColor: "var(--text)" },
  // The box around it shows the focus; in forced colours, which remove shadows, the outline does.
  ".cm-content:focus-visible": { boxShadow: "none", outline: "2px solid transparent", outlineOffset: "-2px" },
  ".cm-line": { padding: "0 var(--space-2)" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "var(--selection)",
  },
  ".cm-placeholder": { color: "var(--faint)" },
  // The editor determines a line's direction from its text only.
  ".cm-line span": { unicodeBidi: "normal" },
  ".cm-specialChar": { color: "var(--bad)" },
  ".cm-gutters": { background: "transparent", color: "var(--faint)", border: "none" },
  ".cm-gutters .cm-lineNumbers .cm-gutterElement": { paddingLeft: "var(--space-2)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { background: "var(--accent-soft)" },
  ".cm-nonmatchingBracket, &.cm-focused .cm-nonmatchingBracket": { background: "var(--bad-soft)" },
  ".cm-selectionMatch": { background: "var(--accent-soft)" },
  ".cm-searchMatch": { background: "var(--warn-soft)", outline: "1px solid var(--warn-border)" },
  ".cm-searchMatch-selected": { background: "var(--selection)" },
  ".cm-panels": { background: "var(--subtle)", color: "var(--text)" },
  ".cm-panels.cm-panels-top, .cm-panels.cm-panels-bottom": { borderColor: "var(--border)" },
  ".cm-panel.cm-search": { padding: "var(--space-2)", fontFamily: "var(--font-sans)" },
  ".cm-panel.cm-search label": {
    display: "inline-flex",
    alignItems: "center",
    gap: "var(--space-1)",
    fontSize: "var(--text-xs)",
  },
  ".cm-textfield": {
    background: "var(--surface)",
    color: "var(--text)",
    border: "1px solid var(--border-control)",
    borderRadius: "var(--radius-sm)",
    fontSize: "var(--text-xs)",
  },
  ".cm-button": {
    background: "var(--surface)",
    color: "var(--text)",
    border: "1px solid var(--border-button)",
    borderRadius: "var(--radius-sm)",
    fontSize: "var(--text-xs)",
  },
  ".cm-panel.cm-search [name=close]": { color: "var(--muted)", fontSize: "var(--text-lg)" },
  ".cm-tooltip": {
    background: "var(--surface)",
    color: "var(--text)",
    border: "1px solid var(--border)",
    borderRadius: "var(--radius)",
    boxShadow: "var(--shadow-2)",
    zIndex: "var(--z-menu)",
    maxWidth: "min(60ch, 90vw)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--font-mono)", fontSize: "var(--text-xs)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "var(--space-0-5) var(--space-2)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    background: "var(--accent-soft)",
    color: "var(--accent)",
  },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "var(--weight-strong)" },
  ".cm-completionDetail": { color: "var(--muted)", fontStyle: "normal" },
  ".cm-completionInfo": { padding: "var(--space-2)", fontSize: "var(--text-xs)" },
  ".cm-schema-hint": { padding: "var(--space-1-5) var(--space-2)", fontSize: "var(--text-xs)" },
  ".cm-schema-hint code": { fontFamily: "var(--font-mono)", color: "var(--muted)" },
  ".cm-diagnostic": {
    padding: "var(--space-1) var(--space-2)",
    borderLeft: "none",
    fontFamily: "var(--font-sans)",
    fontSize: "var(--text-xs)",
  },
  ".cm-diagnostic-error": { color: "var(--bad)" },
  ".cm-diagnostic-warning": { color: "var(--warn)" },
  // Drawn by the browser, so that no single-coloured image is needed.
  ".cm-lintRange": { backgroundImage: "none", textDecoration: "underline wavy var(--bad)", textUnderlineOffset: "3px" },
  ".cm-lintRange-warning": { textDecorationColor: "var(--warn)" },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.keyword, tags.definitionKeyword, tags.controlKeyword], color: "var(--code-key)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--code-string)" },
  { tag: tags.number, color: "var(--code-number)" },
  { tag: [tags.bool, tags.null, tags.atom, tags.self], color: "var(--code-literal)" },
  { tag: [tags.comment, tags.meta, tags.processingInstruction, tags.contentSeparator], color: "var(--faint)" },
  { tag: [tags.heading, tags.strong], fontWeight: "var(--weight-strong)" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: tags.strikethrough, textDecoration: "line-through" },
  { tag: [tags.link, tags.url], color: "var(--accent)" },
  { tag: tags.monospace, fontFamily: "var(--font-mono)", color: "var(--code-string)" },
]);

/** Theme of every editor. */
export const theme = [shape, syntaxHighlighting(colours)];

/** Theme for prose such as instructions. */
export const prose = EditorView.theme({
  ".cm-scroller": { fontFamily: "var(--font-sans)", fontSize: "var(--text-md)", lineHeight: "var(--leading-md)" },
});
