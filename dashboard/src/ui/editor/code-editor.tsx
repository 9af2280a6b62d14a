import type { LanguageSupport } from "@codemirror/language";
import { clsx } from "clsx";
import { type ComponentType, useContext, useEffect, useRef, useState } from "react";
import { ReadOnlyContext } from "../data/read-only-context.ts";
import { FormControl } from "../forms/form-control.tsx";
import { indentKey } from "../forms/indent-key.ts";
import type { SchemaSource } from "./hints.ts";
import { type EditorLanguage, indents, languages } from "./languages.ts";
import type { Surface } from "./surface.tsx";

export interface CodeEditorProps {
  label: string;
  hint?: string;
  error?: string | null;
  language: EditorLanguage;
  value: string;
  onText: (text: string) => void;
  /** Called on blur. */
  onLeave?: () => void;
  readOnly?: boolean;
  placeholder?: string;
  name?: string;
  autoFocus?: boolean;
  /** JSON Schema, for completion and validation. */
  schema?: SchemaSource;
  className?: string;
}

const box = (readOnly: boolean): string =>
  clsx(
    "w-full max-h-100 rounded-md border [&:not(:has(.cm-panel))]:has-aria-invalid:border-bad",
    readOnly ? "border-line bg-subtle text-muted" : "border-line-control bg-surface text-ink hover:border-muted",
  );

/**
 * Editor for code, JSON or Markdown, loaded on first use; until then, or if loading fails, a plain text area with the
 * same label, text and focus.
 */
export function CodeEditor({ label, hint, error, language, className = "min-h-20", ...props }: CodeEditorProps) {
  const { value, onText, onLeave, placeholder, name, autoFocus = false, schema } = props;
  const isClosed = useContext(ReadOnlyContext);
  const readOnly = props.readOnly || isClosed;
  const loaded = useLoaded(language);
  const selection = useRef<readonly [number, number] | null>(autoFocus ? [value.length, value.length] : null);
  const isProse = language === "markdown";
  return (
    <FormControl label={label} hint={hint} error={error}>
      {(controlProps) => {
        const keysId = indents(language) ? `${controlProps.id}-keys` : undefined;
        const described = [controlProps["aria-describedby"], keysId].filter(Boolean).join(" ") || undefined;
        return (
          <>
            {loaded ? (
              <div
                className={clsx(
                  box(readOnly),
                  "flex flex-col overflow-hidden has-[.cm-content:focus]:shadow-(--focus)",
                  className,
                )}
              >
                <loaded.Surface
                  key={language}
                  language={language}
                  support={loaded.support}
                  text={value}
                  onText={onText}
                  onLeave={onLeave}
                  attributes={{
                    id: controlProps.id,
                    "aria-labelledby": `${controlProps.id}-label`,
                    ...(controlProps["aria-invalid"] && { "aria-invalid": "true" }),
                    ...(described && { "aria-describedby": described }),
                  }}
                  readOnly={readOnly}
                  placeholder={placeholder}
                  schema={schema}
                  focus={selection}
                />
              </div>
            ) : (
              <textarea
                ref={(area) => () => {
                  // If the person is already typing, the editor continues at the same position.
                  const isHere = area !== null && document.activeElement === area;
                  selection.current = isHere ? [area.selectionStart, area.selectionEnd] : null;
                }}
                {...controlProps}
                aria-describedby={described}
                name={name}
                value={value}
                readOnly={readOnly}
                placeholder={placeholder}
                // biome-ignore lint/a11y/noAutofocus: only after the person opened it.
                autoFocus={autoFocus}
                spellCheck={isProse ? undefined : false}
                onChange={(event) => onText(event.target.value)}
                onBlur={onLeave}
                onKeyDown={indents(language) ? (event) => indentKey(event, onText) : undefined}
                className={clsx(
                  box(readOnly),
                  "field-sizing-content px-2 py-1.5 aria-invalid:border-bad",
                  isProse ? "text-md" : "font-mono text-xs leading-sm",
                  className,
                )}
              />
            )}
            {keysId && (
              <span id={keysId} className="sr-only">
                Tab indents. Press Escape, then Tab, to leave the editor.
              </span>
            )}
          </>
        );
      }}
    </FormControl>
  );
}

interface Loaded {
  Surface: ComponentType<Parameters<typeof Surface>[0]>;
  support: LanguageSupport;
}

const loadedEditors = new Map<EditorLanguage, Loaded>();

/** Returns the editor of a language once loaded. After a failure, the next mounted field tries again. */
function useLoaded(language: EditorLanguage): Loaded | null {
  const [, setCount] = useState(0);
  useEffect(() => {
    if (loadedEditors.has(language)) return;
    let isHere = true;
    const loading = Promise.all([import("./surface.tsx"), languages[language]()]);
    loading.then(
      ([{ Surface }, support]) => {
        if (!loadedEditors.has(language)) loadedEditors.set(language, { Surface, support });
        if (isHere) setCount((count) => count + 1);
      },
      () => {}, // Keep the text area.
    );
    return () => {
      isHere = false;
    };
  }, [language]);
  return loadedEditors.get(language) ?? null;
}
