import { type ReactNode, useState } from "react";
import { useCaFile } from "../../lib/ca-file.ts";
import { usePreference } from "../../lib/local-storage.ts";
import {
  type ApiRequest,
  type CodeLanguage,
  codeLanguages,
  languageNames,
  requestsCode,
  withSecret,
} from "../../lib/request-code.ts";
import { CodeBlock } from "../data/code-block.tsx";

/** API request equivalent to the page's action, in the chosen language. A new `secret` is inserted only on request. */
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
  const code = requestsCode(language, location.origin, [request].flat(), useCaFile());
  return (
    <CodeBlock
      code={secret && isIn ? withSecret(language, code, secret) : code}
      label={`${languageNames[language]} code`}
      head={
        <>
          <Languages name={`${name} language`} chosen={language} onChoose={setLanguage} />
          {secret && (
            <label className="ml-auto flex items-center gap-2 px-1.5 text-xs">
              <input type="checkbox" checked={isIn} onChange={(event) => setIsIn(event.target.checked)} />
              Include secret
            </label>
          )}
        </>
      }
    />
  );
}

function Languages(props: { name: string; chosen: CodeLanguage; onChoose: (language: CodeLanguage) => void }) {
  return (
    <div role="radiogroup" aria-label="Language" className="flex gap-0.5 text-xs font-medium">
      {codeLanguages.map((language) => (
        <label
          key={language}
          className="relative flex h-(--control-sm) cursor-pointer items-center rounded-sm px-2 text-muted hover:text-ink has-checked:bg-accent-soft has-checked:text-accent forced-colors:has-checked:underline"
        >
          <input
            type="radio"
            name={props.name}
            className="absolute inset-0 size-full cursor-[inherit] appearance-none rounded-sm"
            checked={props.chosen === language}
            onChange={() => props.onChoose(language)}
          />
          {languageNames[language]}
        </label>
      ))}
    </div>
  );
}

/** The same, collapsed, for dialogs. */
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
