import { Component, type ReactNode, Suspense } from "react";
import { lazyPart } from "../lazy-part.ts";
import { isSafeMarkdown } from "./is-safe-markdown.ts";
import { usePacedText } from "./use-paced-text.ts";

const LoadedMarkdown = lazyPart(() =>
  import("./markdown-view.tsx").then(({ MarkdownView }) => ({ default: MarkdownView })),
);

/**
 * Renders model output as Markdown: never as HTML, without loading images, and with the host of every external link.
 * Plain text while the renderer is loading, and for texts too expensive to parse. `growing`: it is still streaming.
 */
export function Markdown({ text, growing = false }: { text: string; growing?: boolean }) {
  const shown = usePacedText(text, growing);
  const plain = <PlainText text={shown} growing={growing} />;
  if (!isSafeMarkdown(shown)) return plain;
  return (
    <FallbackBoundary fallback={plain}>
      <Suspense fallback={plain}>
        <LoadedMarkdown text={shown} growing={growing} />
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
