import { useQuery } from "@tanstack/react-query";
import { KeyRound, Plus, X } from "lucide-react";
import { secretApi } from "../../entities/tool/tool-api.ts";
import type { Fields } from "../../hooks/use-form.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Menu } from "../../ui/dialogs/menu.tsx";
import { Button, buttonClass } from "../../ui/forms/button.tsx";
import type { CommonDraft } from "./types/tool-part.ts";

type Header = CommonDraft["headers"][number];

const input =
  "h-(--control) w-full min-w-0 rounded-md border border-line-control bg-surface px-2.5 font-mono text-xs hover:border-muted";

/** Headers sent with each call. Stored values are masked; secrets are referenced by name. */
export function HeadersField({
  draft: { headers },
  fieldErrors: { headers: fault },
  set,
}: Pick<Fields<CommonDraft>, "draft" | "fieldErrors" | "set">) {
  const at = useWorkspace();
  const secrets = useQuery(secretApi.every(at)).data ?? [];
  const change = (i: number, part: Partial<Header>) =>
    set({ headers: headers.map((each, n) => (n === i ? { ...each, ...part } : each)) });
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-1.5 font-medium">Headers</legend>
      {headers.map((header, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a header has no id while it is being edited.
        <div key={i} className="flex items-center gap-2 max-rail:flex-wrap">
          {(["name", "value"] as const).map((part) => (
            <input
              key={part}
              aria-label={`Header ${i + 1}, ${part}`}
              placeholder={part === "name" ? "authorization" : "Bearer {{secret.CRM_KEY}}"}
              autoComplete="off"
              spellCheck={false}
              value={header[part]}
              onChange={(event) => change(i, { [part]: event.target.value })}
              className={`${input} ${part === "name" ? "rail:max-w-50" : "flex-1"}`}
            />
          ))}
          {secrets.length > 0 && (
            <Menu
              align="end"
              trigger={
                <button
                  type="button"
                  aria-label={`Insert a secret into header ${i + 1}`}
                  title="Insert a secret"
                  className={buttonClass({ kind: "ghost", size: "icon-sm" })}
                >
                  <KeyRound aria-hidden className="size-4" strokeWidth={1.5} />
                </button>
              }
            >
              {({ MenuItem }) =>
                secrets.map(({ name }) => (
                  <MenuItem key={name} onClick={() => change(i, { value: `${kept(header.value)}{{secret.${name}}}` })}>
                    {name}
                  </MenuItem>
                ))
              }
            </Menu>
          )}
          <Button
            kind="ghost"
            size="icon-sm"
            aria-label={`Remove header ${i + 1}`}
            onClick={() => set({ headers: headers.filter((_, n) => n !== i) })}
          >
            <X aria-hidden className="size-4" strokeWidth={1.5} />
          </Button>
        </div>
      ))}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Button size="sm" onClick={() => set({ headers: [...headers, { name: "", value: "" }] })}>
          <Plus aria-hidden className="size-3.5" strokeWidth={1.5} />
          Add header
        </Button>
        {headers.some(({ value }) => value === masked) && (
          <span className="text-xs text-muted">{masked} keeps the stored value.</span>
        )}
      </div>
      {fault && (
        <p role="alert" className="text-xs text-bad wrap-anywhere">
          {fault}
        </p>
      )}
    </fieldset>
  );
}

const masked = "********";

/** Text before an inserted secret: the current value unless it is the mask. */
const kept = (value: string): string => (value === masked ? "" : value);
