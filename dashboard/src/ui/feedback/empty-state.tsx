import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

/** Empty state: the purpose, and the button that creates the first object. */
export function EmptyState({
  icon: Icon,
  title,
  page = false,
  children,
}: {
  icon: LucideIcon;
  title: string /** True if nothing else is on the page. */;
  page?: boolean;
  children: ReactNode;
}) {
  const Heading = page ? "h1" : "h2";
  return (
    <div className="enter flex flex-col items-center gap-3 px-5 py-16 text-center">
      <Icon aria-hidden className="size-7 text-faint" strokeWidth={1.2} />
      <Heading className="text-md">{title}</Heading>
      {children}
    </div>
  );
}
