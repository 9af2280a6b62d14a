/** A page may set any `--runnel-…` property; the others follow the theme. */
export const styles = `
:host {
  --a: var(--runnel-accent, #0b6a77); --on-a: var(--runnel-on-accent, #fff);
  --bg: var(--runnel-surface, #fff); --well: var(--runnel-subtle, #f6f8f8); --line: var(--runnel-border, #e2e8ea);
  --edge: #849298; --text: var(--runnel-text, #12181a); --muted: var(--runnel-muted, #4f5b60);
  --bad: #b3261e; --bad-bg: #fdecea; --warn-bg: #fdf1d8; --r: var(--runnel-radius, 10px);
  display: flex; flex-direction: column; min-height: 320px; height: 560px; max-height: 100%; overflow: hidden;
  box-sizing: border-box; border: 1px solid var(--line); border-radius: var(--r); background: var(--bg);
  color: var(--text); color-scheme: light; text-align: start;
  font: 14px/22px var(--runnel-font, "Segoe UI Variable Text", "Segoe UI", -apple-system, BlinkMacSystemFont, Roboto, "Noto Sans", "Liberation Sans", Arial, sans-serif);
}
:host([hidden]) { display: none }
:host([data-dark]) {
  --a: var(--runnel-accent, #55c7d4); --on-a: var(--runnel-on-accent, #06292e); --bg: var(--runnel-surface, #14191b);
  --well: var(--runnel-subtle, #1b2225); --line: var(--runnel-border, #283135); --edge: #66747b;
  --text: var(--runnel-text, #e9eeef); --muted: var(--runnel-muted, #a6b1b6); --bad: #ff8d85; --bad-bg: #3a1917;
  --warn-bg: #33260c; color-scheme: dark;
}
*, *::before { box-sizing: border-box }
header { padding: 12px 16px; border-bottom: 1px solid var(--line); font-weight: 600 }
header:empty { display: none }
.log { flex: 1; overflow-y: auto; overscroll-behavior: contain; padding: 16px; display: flex; flex-direction: column; gap: 16px }
.empty { margin: auto; max-width: 34ch; text-align: center; color: var(--muted) }
.turn { display: flex; flex-direction: column; gap: 10px; min-width: 0 }
.user { align-self: flex-end; max-width: 85%; padding: 8px 12px; border-radius: var(--r); background: var(--a); color: var(--on-a); white-space: pre-wrap; overflow-wrap: anywhere }
.picture { align-self: flex-end; max-width: min(60%, 260px); max-height: 220px; border: 1px solid var(--line); border-radius: var(--r); background: var(--well) }
div.picture { padding: 8px 12px; color: var(--muted) }
.document { align-self: flex-end; max-width: 85%; padding: 6px 12px; border: 1px solid var(--line); border-radius: var(--r); background: var(--well); color: var(--text); font-size: 13px; overflow-wrap: anywhere; unicode-bidi: isolate }
.document::before { content: ""; display: inline-block; width: 9px; height: 12px; margin-inline-end: 8px; vertical-align: -1px; border: 1.5px solid var(--muted); border-radius: 2px }
.chosen .document { max-width: 220px; padding: 4px 10px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis }
.chosen { display: flex; flex-wrap: wrap; gap: 8px; margin: 0; padding: 0 12px 8px; list-style: none } .chosen:empty { display: none }
.chosen li { display: flex; align-items: center; gap: 6px } .chosen .picture { width: 44px; height: 44px; object-fit: cover; border-radius: 6px }
.add { flex: none } [hidden] { display: none !important }
.text { min-width: 0; max-width: 68ch; overflow-wrap: anywhere; display: flex; flex-direction: column; gap: 10px }
.text > * { margin: 0; min-width: 0 }
.text h1, .text h2, .text h3, .text h4, .text h5, .text h6 { font-size: 1em; font-weight: 600 }
.text h1, .text h2 { font-size: 1.15em }
.text ul, .text ol { padding-inline-start: 22px } .text li > ul, .text li > ol { margin: 0 }
.text p { white-space: pre-line }
.text a { color: var(--a) }
.text code { padding: 1px 4px; border: 1px solid var(--line); border-radius: 4px; background: var(--well); font: 12px/16px ui-monospace, "SF Mono", Menlo, "DejaVu Sans Mono", monospace }
.text pre { overflow-x: auto; padding: 10px 12px; border: 1px solid var(--line); border-radius: 6px; background: var(--well) }
.text pre code { padding: 0; border: 0; background: none }
.text blockquote { padding-inline-start: 12px; border-inline-start: 2px solid var(--line); color: var(--muted) }
.text hr { width: 100%; border: 0; border-top: 1px solid var(--line) }
.scroll { overflow-x: auto; max-width: 100% }
.text table { border-collapse: collapse; font-size: 13px } .text th, .text td { padding: 4px 10px; border: 1px solid var(--line); text-align: start; vertical-align: top }
.writing > :last-child::after { content: ""; display: inline-block; width: 7px; height: 1em; margin-inline-start: 2px; vertical-align: -2px; background: var(--a); animation: blink 1s steps(2) infinite }
@keyframes blink { 50% { opacity: 0 } }
.tool, .note { padding: 8px 12px; border: 1px solid var(--line); border-radius: 8px; background: var(--well); font-size: 13px; overflow-wrap: anywhere }
.text a, .text code, .text del, .text em, .text strong, .tool b, .tool span { unicode-bidi: isolate } .place { color: var(--muted); font-size: 12px }
.tool summary { cursor: pointer } .tool summary b { font-weight: 500 } .tool summary span { color: var(--muted) }
.tool pre { margin: 8px 0 0; max-height: 180px; overflow: auto; white-space: pre-wrap; font: 12px/16px ui-monospace, Menlo, "DejaVu Sans Mono", monospace }
.tool.waiting { background: var(--warn-bg) }
.note.bad { border-color: var(--bad); background: var(--bad-bg) }
.question { display: flex; flex-direction: column; gap: 8px; margin-top: 8px } .question p { margin: 0; white-space: pre-wrap }
.question label { display: flex; flex-direction: column; gap: 4px } .question .check { flex-direction: row }
.question { overflow-wrap: anywhere }
.acts { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 8px }
button { min-height: 32px; padding: 4px 12px; border: 1px solid var(--edge); border-radius: 6px; background: var(--bg); color: var(--text); font: inherit; cursor: pointer }
.acts a { display: inline-block; min-height: 32px; padding: 4px 12px; border: 1px solid var(--a); border-radius: 6px; background: var(--a); color: var(--on-a); text-decoration: none }
button.main { border-color: var(--a); background: var(--a); color: var(--on-a) }
button:disabled { opacity: .55; cursor: default }
button:focus-visible, textarea:focus-visible, summary:focus-visible, .log:focus-visible, a:focus-visible { outline: 2px solid var(--a); outline-offset: 2px }
form { display: flex; align-items: flex-end; gap: 8px; padding: 12px; border-top: 1px solid var(--line) }
textarea { flex: 1; min-width: 0; min-height: 40px; max-height: 160px; field-sizing: content; resize: none; padding: 8px 10px; border: 1px solid var(--edge); border-radius: 8px; background: var(--bg); color: var(--text); font: inherit }
form button { min-height: 40px }
.feedback { display: flex; flex-direction: column; gap: 6px; max-width: 68ch } .feedback .acts { align-items: center; gap: 4px; margin: 0 }
.feedback button { min-height: 26px; padding: 0 8px; border-color: transparent; color: var(--muted); font-size: 12px }
.feedback button[aria-pressed=true], .feedback form button { border-color: var(--edge); color: var(--text) }
.feedback .said { padding-inline-start: 4px; color: var(--muted); font-size: 12px }
.feedback form { align-items: center; padding: 0; border: 0 } .feedback textarea { min-height: 32px; padding: 4px 8px; font-size: 13px } .feedback form button { min-height: 32px }
.status { padding: 0 16px 8px; min-height: 24px; color: var(--muted); font-size: 12px; line-height: 16px }
.sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
@media (prefers-reduced-motion: reduce) { .writing > :last-child::after { animation: none } }
`;
