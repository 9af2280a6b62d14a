import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "./button.tsx";

/** Copies a text and says so in its place. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1600);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => navigator.clipboard.writeText(text).then(() => setCopied(true));
  const Icon = copied ? Check : Copy;
  return (
    <Button
      kind="ghost"
      size="icon-sm"
      onClick={copy}
      aria-label={copied ? "Copied" : `Copy ${what}`}
      title={`Copy ${what}`}
    >
      <Icon aria-hidden className="size-3.5" strokeWidth={1.5} />
    </Button>
  );
}
