import { useLocation } from "@tanstack/react-router";
import { clsx } from "clsx";
import { BookOpen, CircleHelp, type LucideIcon } from "lucide-react";
import { guideOf, referenceUrl } from "./pages.ts";

/** Link to the guide of this page. */
export function GuideLink({ wide = false }: { wide?: boolean }) {
  const { pathname } = useLocation();
  return <DocsLink href={guideOf(pathname)} label="Guide to this page" icon={CircleHelp} wide={wide} />;
}

/** Link to the API reference of this server. */
export function ReferenceLink({ wide = false }: { wide?: boolean }) {
  return <DocsLink href={referenceUrl} label="API reference" icon={BookOpen} wide={wide} />;
}

/** Link to the served documentation, opens in a new tab. */
function DocsLink(props: { href: string; label: string; icon: LucideIcon; wide: boolean }) {
  const { href, label, icon: Icon, wide } = props;
  return (
    <a
      href={href}
      target="_blank"
      rel="noreferrer"
      title={label}
      className={clsx(
        "flex h-7.5 shrink-0 items-center gap-2.5 rounded-md px-2 text-muted hover:bg-mode-soft hover:text-ink focus-visible:shadow-(--focus)! pointer-coarse:h-10",
        !wide && "justify-center wide:justify-start",
      )}
    >
      <Icon aria-hidden className="size-4 shrink-0" strokeWidth={1.5} />
      <span className={clsx(!wide && "sr-only wide:not-sr-only")}>{label}</span>
    </a>
  );
}
