import { type FormEvent, useId, useState } from "react";
import type { Memory as Store } from "../../../../server/domain/api-types/memory.ts";
import { Button } from "../../ui/forms/button.tsx";

/** Filters a store by a user or session id. The typed id is applied on submit. */
export function ScopeField({
  store,
  of = "",
  onChoose,
}: {
  store: Pick<Store, "scope">;
  of?: string;
  onChoose: (of: string | undefined) => void;
}) {
  const id = useId();
  const [text, setText] = useState(of);
  if (store.scope === "project") return null;
  const word = store.scope === "user" ? "User" : "Session";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onChoose(text.trim() || undefined);
  };
  return (
    <form onSubmit={submit} className="flex shrink-0 items-center gap-2">
      <label htmlFor={id} className="text-muted">
        {word}
      </label>
      <input
        id={id}
        placeholder={`${word} id`}
        value={text}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
        className="h-(--control) w-40 rounded-md border border-line-control bg-surface px-2.5 hover:border-muted"
      />
      <Button type="submit" disabled={text.trim() === of}>
        Show
      </Button>
    </form>
  );
}
