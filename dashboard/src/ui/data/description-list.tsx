import type { ReactNode } from "react";
import { capital } from "../../lib/format.ts";
import { CopyButton } from "./copy-button.tsx";

/** Description list of an object, below its name. On a phone it is one line that scrolls sideways. */
export function DescriptionList({ children }: { children: ReactNode }) {
  return (
    <dl className="flex w-full min-w-0 items-center gap-x-5 gap-y-0.5 text-xs max-rail:overflow-x-auto max-rail:[scrollbar-width:none] rail:flex-wrap">
      {children}
    </dl>
  );
}

/** One entry of the list. */
export function Description({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex min-h-6 max-w-full min-w-0 items-center gap-1.5 max-rail:shrink-0">
      <dt className="shrink-0 text-muted">{name}</dt>
      <dd className="flex min-w-0 items-center gap-0.5 tabular-nums">{children}</dd>
    </div>
  );
}

/** Entry with the object's id and a copy button. `noun`: “webhook”. */
export function IdDescription({ noun, id }: { noun: string; id: string }) {
  return (
    <Description name={capital(noun)}>
      <code className="cut">{id}</code>
      <CopyButton text={id} what={`${noun} id`} />
    </Description>
  );
}
