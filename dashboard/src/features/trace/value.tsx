import { JsonView } from "../../ui/json-view.tsx";
import { Block } from "./block.tsx";
import { LongText } from "./long-text.tsx";

/** A JSON value under its title: text as text, anything else as a tree. */
export function Value({ title, name, value }: { title: string; name: string; value: unknown }) {
  const copy = typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
  return (
    <Block title={title} copy={copy}>
      <div className="rounded-md border border-line bg-subtle px-3 py-2">
        {typeof value === "string" ? <LongText text={value} name={name} mono /> : <JsonView value={value} />}
      </div>
    </Block>
  );
}
