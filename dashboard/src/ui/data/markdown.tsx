import { Component, type ReactNode, Suspense, useEffect, useRef, useState } from "react";
import { lazyPart } from "../lazy-part.ts";

const LoadedMarkdown = lazyPart(() =>
  import("./markdown-view.tsx").then(({ MarkdownView }) => ({ default: MarkdownView })),
);

/**
 * Renders model output as Markdown: never as HTML, without loading images, and with the host of every external link.
 * Plain text while the renderer is loading, and for texts too expensive to parse. `growing`: it is still streaming.
 */
export function Markdown({ text, growing = false }: { text: string; growing?: boolean }) {
  const pacedText = usePacedText(text, growing);
  const plain = <PlainText text={pacedText} growing={growing} />;
  if (!isSafeMarkdown(pacedText)) return plain;
  return (
    <FallbackBoundary fallback={plain}>
      <Suspense fallback={plain}>
        <LoadedMarkdown text={pacedText} growing={growing} />
      </Suspense>
    </FallbackBoundary>
  );
}

function PlainText({ text, growing }: { text: string; growing: boolean }) {
  return <p className={`max-w-(--read) text-md wrap-anywhere whitespace-pre-wrap ${growing ? "caret" : ""}`}>{text}</p>;
}

/** Shows the fallback if rendering fails: the parser rejects the text, or its chunk cannot be loaded. */
class FallbackBoundary extends Component<{ fallback: ReactNode; children: ReactNode }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    return this.state.failed ? this.props.fallback : this.props.children;
  }
}

const longest = 40_000;
/** Maximum number of expensive marks: cells, brackets, emphasis, code and tags, addresses, lists and quotes. */
const bounds: [RegExp, number][] = [
  [/\|/g, 3000],
  [/[[\]]/g, 3000],
  [/[*_~]/g, 5000],
  [/[`<]/g, 5000],
  [/www\.|https?:|@/gi, 600],
  [/^[ \t]*(?:[-*+>]|\d+[.)])/gm, 1200],
];
const deepestLine = /^[ \t>*+-]{240}/m;

/** True if any text of this kind parses as Markdown within a moment, even a malicious one. */
export function isSafeMarkdown(text: string): boolean {
  if (text.length > longest || deepestLine.test(text)) return false;
  return bounds.every(([mark, most]) => (text.match(mark)?.length ?? 0) <= most);
}

/** Characters parsed per millisecond, with a margin for other work. */
const charactersPerMs = 250;

/**
 * Streaming text, updated at most once per animation frame; a long one less often, because each update parses it again.
 */
function usePacedText(text: string, growing: boolean): string {
  const [renderedText, setRenderedText] = useState(text);
  const latest = useRef(text);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  latest.current = text;
  useEffect(() => {
    if (!growing || timer.current !== undefined || text === renderedText) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      requestAnimationFrame(() => setRenderedText(latest.current));
    }, text.length / charactersPerMs);
  }, [growing, text, renderedText]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return growing ? renderedText : text;
}
