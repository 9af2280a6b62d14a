import { Component, type ReactNode, Suspense } from "react";
import { isTame } from "./is-tame.ts";
import { lazyPart } from "./lazy-part.ts";
import { usePacedText } from "./use-paced-text.ts";

const LoadedMarkdown = lazyPart(() =>
  import("./markdown-view.tsx").then(({ MarkdownView }) => ({ default: MarkdownView })),
);

/**
 * What a model wrote, as Markdown: never as HTML, with no picture loaded and every foreign link told by its host. Plain
 * text while its reader is on the way, and for good where the text is more than a reader should take apart.
 * `growing`: it is still being written.
 */
export function Markdown({ text, growing = false }: { text: string; growing?: boolean }) {
  const shown = usePacedText(text, growing);
  const plain = <PlainText text={shown} growing={growing} />;
  if (!isTame(shown)) return plain;
  return (
    <Unless fallback={plain}>
      <Suspense fallback={plain}>
        <LoadedMarkdown text={shown} growing={growing} />
      </Suspense>
    </Unless>
  );
}

function PlainText({ text, growing }: { text: string; growing: boolean }) {
  return <p className={`max-w-(--read) text-md wrap-anywhere whitespace-pre-wrap ${growing ? "caret" : ""}`}>{text}</p>;
}

/** Shows the fallback when what it holds cannot be shown: a text that its parser cannot take, a chunk that is gone. */
class Unless extends Component<{ fallback: ReactNode; children: ReactNode }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    return this.state.failed ? this.props.fallback : this.props.children;
  }
}
