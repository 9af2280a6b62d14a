import { clsx } from "clsx";
import { ExternalLink, ImageOff, Square, SquareCheck } from "lucide-react";
import { isValidElement, memo, type ReactNode } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { CopyButton } from "./copy-button.tsx";

/** The parts of Markdown's tree that limiting the depth needs. */
interface TreeNode {
  type: string;
  value?: string;
  children?: TreeNode[];
  position?: { start: { offset?: number }; end: { offset?: number } };
}

const deepest = 12;
const containers = new Set(["blockquote", "list", "emphasis", "strong", "delete"]);

/** Remark plugin that turns content nested in more than twelve quotes, lists or emphases into plain text. */
function remarkMaxDepth() {
  return (tree: TreeNode, file: unknown) => limitDepth(tree, 0, String(file));
}

function limitDepth(node: TreeNode, depth: number, source: string): void {
  node.children = node.children?.map((child) => {
    const inner = depth + (containers.has(child.type) ? 1 : 0);
    if (inner > deepest) return asText(child, source);
    limitDepth(child, inner, source);
    return child;
  });
}

function asText(node: TreeNode, source: string): TreeNode {
  const text = { type: "text", value: source.slice(node.position?.start.offset ?? 0, node.position?.end.offset ?? 0) };
  const isBlock = node.type === "blockquote" || node.type === "list";
  return isBlock ? { type: "paragraph", children: [text] } : text;
}

/** Renders Markdown. HTML in it stays plain text. */
export const MarkdownView = memo(function MarkdownView({ text, growing = false }: { text: string; growing?: boolean }) {
  return (
    <div className={clsx("flex max-w-(--read) min-w-0 flex-col gap-3 text-md wrap-anywhere", growing && "caret-last")}>
      <ReactMarkdown
        remarkPlugins={plugins}
        components={components}
        // Links and images check their addresses themselves.
        urlTransform={(url) => url}
      >
        {text}
      </ReactMarkdown>
    </div>
  );
});

const plugins = [remarkGfm, remarkMaxDepth];

/** Headings become bold lines, so that they do not mix with the page's heading structure. */
const heading = ({ children }: { children?: ReactNode }) => <p className="pt-1 font-strong">{children}</p>;
const bigHeading = ({ children }: { children?: ReactNode }) => <p className="pt-1 text-lg font-strong">{children}</p>;

// Allowlist of elements; ids, classes and styles of the text never reach the page.
const components: Components = {
  p: ({ children }) => <p>{children}</p>,
  h1: bigHeading,
  h2: bigHeading,
  h3: heading,
  h4: heading,
  h5: heading,
  h6: heading,
  a: ({ href, children }) => <ForeignLink href={href}>{children}</ForeignLink>,
  img: ({ src, alt }) => <UnloadedImage src={typeof src === "string" ? src : undefined} alt={alt} />,
  pre: ({ children }) => <Code>{children}</Code>,
  code: ({ children }) => <code className="rounded-sm border border-line-soft bg-subtle px-1 py-px">{children}</code>,
  ul: ({ children }) => <ul className="flex list-disc flex-col gap-1 pl-5 has-[>li>.task]:list-none">{children}</ul>,
  ol: ({ children, start }) => (
    <ol start={start} className="flex list-decimal flex-col gap-1 pl-6">
      {children}
    </ol>
  ),
  li: ({ children }) => <li className="min-w-0 [&>p+p]:mt-2 [&>ol]:mt-1 [&>ul]:mt-1">{children}</li>,
  input: ({ checked }) => <Task done={checked === true} />,
  blockquote: ({ children }) => (
    <blockquote className="flex min-w-0 flex-col gap-2 border-l-2 border-line pl-3 text-muted">{children}</blockquote>
  ),
  hr: () => <hr className="border-line" />,
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard.
    <div tabIndex={0} className="max-h-120 max-w-full overflow-auto rounded-md border border-line">
      <table className="w-full border-separate border-spacing-0 text-sm">{children}</table>
    </div>
  ),
  th: ({ children, style }) => (
    <th
      style={{ textAlign: style?.textAlign ?? "left" }}
      className="sticky top-0 border-b border-line bg-subtle px-2.5 py-1.5 font-medium whitespace-nowrap"
    >
      {children}
    </th>
  ),
  td: ({ children, style }) => (
    <td
      style={{ textAlign: style?.textAlign ?? "left" }}
      className="min-w-16 border-b border-line-soft px-2.5 py-1.5 align-top"
    >
      {children}
    </td>
  ),
  section: ({ children }) => <div className="flex flex-col gap-1 border-t border-line pt-2 text-xs">{children}</div>,
};

const isAscii = /^[\x20-\x7e]*$/;

/** Opens in another tab and shows its host, because a link's text can claim anything. */
function ForeignLink({ href, children }: { href: string | undefined; children: ReactNode }) {
  const target = linkTarget(href);
  if (!target) return <span>{children}</span>;
  const linkText = plainText(children).toLowerCase();
  // Letters of other scripts may look like those of another host.
  const isTold = isAscii.test(linkText) && [target.host, target.href, href?.toLowerCase()].includes(linkText);
  return (
    <>
      <a
        href={target.href}
        target="_blank"
        rel="noopener noreferrer"
        title={`Opens ${target.host} in a new tab`}
        className="text-accent underline underline-offset-2"
      >
        {children}
        <ExternalLink aria-hidden className="ml-0.5 inline size-3 align-baseline" strokeWidth={1.75} />
        <span className="sr-only"> (opens in a new tab)</span>
      </a>
      {!isTold && <span className="text-xs text-muted"> ({target.host})</span>}
    </>
  );
}

/** Placeholder for an image: loading it would tell its host that the text is being read. */
function UnloadedImage({ src, alt }: { src: string | undefined; alt: string | undefined }) {
  const target = linkTarget(src);
  const host = target && src && !src.startsWith("mailto:") ? target.host : null;
  return (
    <span
      className="inline-flex max-w-full items-center gap-1.5 rounded-md border border-line bg-subtle px-2 py-0.5 align-middle text-xs text-muted"
      title={target ? `Images from other hosts are not loaded: ${target.href}` : "Images are not loaded"}
    >
      <ImageOff aria-hidden className="size-3.5 shrink-0" strokeWidth={1.5} />
      <span className="min-w-0">
        {alt || "Picture"}
        <span className="text-faint"> · not loaded{host && `, from ${host}`}</span>
      </span>
    </span>
  );
}

function Task({ done }: { done: boolean }) {
  const Icon = done ? SquareCheck : Square;
  return (
    <span className="task">
      <Icon aria-hidden className="-ml-5 mr-1 inline size-4 align-text-bottom text-muted" strokeWidth={1.5} />
      <span className="sr-only">{done ? "Done: " : "Open: "}</span>
    </span>
  );
}

function Code({ children }: { children: ReactNode }) {
  const code = plainText(children).replace(/\n$/, "");
  return (
    <div className="relative min-w-0 rounded-md border border-line bg-subtle">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard. */}
      <pre tabIndex={0} className="max-h-120 overflow-auto rounded-md py-2.5 pr-10 pl-3">
        {code}
      </pre>
      <span className="absolute top-1 right-1 rounded-sm bg-subtle">
        <CopyButton text={code} what="code" />
      </span>
    </div>
  );
}

/** Returns the text of elements. */
function plainText(node: ReactNode): string {
  if (typeof node === "string" || typeof node === "number") return String(node);
  if (Array.isArray(node)) return node.map(plainText).join("");
  return isValidElement<{ children?: ReactNode }>(node) ? plainText(node.props.children) : "";
}

/** Returns the target of an untrusted link; null for scripts, files and pages of this server. */
export function linkTarget(href: string | undefined): { href: string; host: string } | null {
  if (!href) return null;
  try {
    const url = new URL(href);
    if (url.protocol === "mailto:") return { href: url.href, host: url.pathname.split("?")[0]! };
    if (url.protocol !== "https:" && url.protocol !== "http:") return null;
    // A user name before @ could be mistaken for the host.
    url.username = "";
    url.password = "";
    return { href: url.href, host: url.host };
  } catch {
    return null;
  }
}
