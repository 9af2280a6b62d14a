import { type ReactNode, useState } from "react";
import { usePreference } from "../lib/preference.ts";
import { type ApiRequest, codeLanguages, languageNames, requestsCode } from "../lib/request-code.ts";
import { withSecret } from "../lib/with-secret.ts";
import { ChoiceBar } from "./choice-bar.tsx";
import { CodeBlock } from "./code-block.tsx";

/**
 * The request behind what a page does, in the language that the reader chose for all pages. A `secret` that was just
 * made goes into it only when asked for.
 */
export function ShowCode({
  name,
  request,
  secret,
}: {
  name: string;
  request: ApiRequest | readonly ApiRequest[];
  secret?: string;
}) {
  const [language, setLanguage] = usePreference("language", codeLanguages, "curl");
  const [isIn, setIsIn] = useState(false);
  const code = requestsCode(language, location.origin, [request].flat());
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <div className="flex-1">
          <ChoiceBar
            name={`${name} language`}
            label="Language"
            choices={codeLanguages.map((value) => ({ value, label: languageNames[value] }))}
            chosen={language}
            onChoose={setLanguage}
          />
        </div>
        {secret && (
          <label className="flex items-center gap-2 text-xs">
            <input
              type="checkbox"
              className="accent-accent"
              checked={isIn}
              onChange={(event) => setIsIn(event.target.checked)}
            />
            Put the secret in
          </label>
        )}
      </div>
      <CodeBlock
        code={secret && isIn ? withSecret(language, code, secret) : code}
        label={`${languageNames[language]} code`}
      />
    </div>
  );
}

/** The same, folded: for a dialog, where most people need only the dialog. */
export function FoldedCode({
  name,
  request,
  children = "Show code",
}: {
  name: string;
  request: ApiRequest;
  children?: ReactNode;
}) {
  const [open, setOpen] = useState(false);
  return (
    <details className="min-w-0" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="w-fit font-medium text-muted hover:text-ink">{children}</summary>
      {open && (
        <div className="pt-2">
          <ShowCode name={name} request={request} />
        </div>
      )}
    </details>
  );
}
